"""Fields for a hub's token: typed, kept by the system's key store if wanted, forgotten again."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.viewmodels.hub_login import HubLogin
from app.widgets.check_box import CheckBox


class LoginBox(QWidget):
    """Over the model of the login; several may be open at once."""

    def __init__(self, login: HubLogin) -> None:
        super().__init__()
        self._login = login
        self.token = QLineEdit(login.token)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setAccessibleName(self.tr("Token"))
        self.keep = CheckBox(self.tr("Keep it in this system's key store"))
        self.keep.setToolTip(self.tr("Otherwise it is forgotten when Edge0 ends"))
        self.forget = QPushButton(self.tr("Forget the token"))
        self._state = QLabel()
        self._state.setWordWrap(True)
        self._state.setProperty("kind", "muted")
        self._lay_out()
        self.token.textEdited.connect(login.use)
        self.token.editingFinished.connect(self._store)
        self.keep.clicked.connect(self._store)
        self.forget.clicked.connect(login.forget)
        login.changed.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.token, 1)
        row.addWidget(self.forget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.keep)
        column.addWidget(self._state)

    def _store(self) -> None:
        if self.keep.isChecked():
            self._login.store()

    def _show(self) -> None:
        login = self._login
        if self.token.text().strip() != login.token:
            self.token.setText(login.token)
        hint = self.tr("only where asked for; never sent to a mirror")
        self.token.setPlaceholderText(self.tr("in this system's key store") if login.kept else hint)
        if login.kept:
            self.keep.setChecked(True)
        self.keep.setEnabled(not login.kept and not login.busy)
        self.forget.setVisible(login.kept or bool(login.token))
        text = self.tr("This system keeps no tokens: it is used until Edge0 ends.")
        self._state.setText(text)
        self._state.setVisible(login.not_kept)
