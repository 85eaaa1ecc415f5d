"""The page of the settings about models: where they are kept, which way they come, the login."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.commands import OFFICIAL_HUB, is_address
from app.settings import Settings
from app.viewmodels.hub_login import HubLogin
from app.widgets.login_box import LoginBox
from app.widgets.network_fields import hub_field, proxy_field
from app.widgets.settings_fields import add_field, settings_form


class DownloadsPage(QWidget):
    """`usual`: where models are kept when nothing else is chosen."""

    def __init__(self, settings: Settings, usual: Path, login: HubLogin) -> None:
        super().__init__()
        self.folder = QLineEdit(settings.models_folder)
        self.folder.setPlaceholderText(str(usual))
        self.pick = QPushButton(self.tr("Choose…"))
        self.endpoint = hub_field(settings.hub_endpoint or OFFICIAL_HUB)
        self.proxy = proxy_field(settings.hub_proxy)
        self.login = LoginBox(login)
        form = settings_form(self)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.folder, 1)
        row.addWidget(self.pick)
        self.folder.setAccessibleName(self.tr("Models folder"))
        form.addRow(self._label(self.tr("Models folder"), self.folder), row)
        add_field(form, self.tr("Hub"), self.endpoint, self.tr("A hub, or its mirror"))
        add_field(form, self.tr("Proxy"), self.proxy)
        form.addRow(self._label(self.tr("Token"), self.login.token), self.login)
        self._note = QLabel(self.tr("What cannot be an address is not saved."))
        self._note.setProperty("kind", "warn")
        self._note.setWordWrap(True)
        form.addRow(self._note)
        self.pick.clicked.connect(self._pick)
        self.endpoint.currentTextChanged.connect(self._check)
        self.proxy.textChanged.connect(self._check)
        self._check()

    def applied(self, settings: Settings) -> Settings:
        """`settings` with what was chosen here; what cannot be an address stays as it was."""
        hub, proxy = self._addresses()
        if is_address(hub):
            settings = replace(settings, hub_endpoint="" if hub == OFFICIAL_HUB else hub)
        if not proxy or is_address(proxy):
            settings = replace(settings, hub_proxy=proxy)
        return replace(settings, models_folder=self.folder.text().strip())

    def _addresses(self) -> tuple[str, str]:
        return self.endpoint.currentText().strip().rstrip("/"), self.proxy.text().strip()

    def _check(self) -> None:
        hub, proxy = self._addresses()
        self._note.setVisible(not is_address(hub) or (bool(proxy) and not is_address(proxy)))

    def _pick(self) -> None:
        start = self.folder.text() or self.folder.placeholderText()
        folder = QFileDialog.getExistingDirectory(self, self.tr("Keep models in"), start)
        if folder:
            self.folder.setText(folder)

    @staticmethod
    def _label(text: str, field: QWidget) -> QLabel:
        label = QLabel(text)
        label.setBuddy(field)
        return label
