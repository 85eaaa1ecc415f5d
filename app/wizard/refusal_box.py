"""What to do when a hub gives a model only to people who log in: its page, and the token."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.viewmodels.hub_login import HubLogin
from app.widgets.login_box import LoginBox
from app.wizard.parts import words


class RefusalBox(QWidget):
    """Hidden until there is a page that helps."""

    def __init__(self, login: HubLogin) -> None:
        super().__init__()
        self.page = ""
        self.open = QPushButton()
        self.open.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.page)))
        self.login = LoginBox(login)
        row = QHBoxLayout()
        row.addWidget(self.open)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(
            words(
                self.tr(
                    "Accept the licence on the model's page, make a token for reading, and enter it"
                    " here. It goes to huggingface.co and nowhere else."
                )
            )
        )
        column.addLayout(row)
        column.addWidget(self.login)
        self.hide()

    def show_page(self, page: str) -> None:
        """Show the way to a page, or nothing."""
        self.page = page
        self.open.setText(self.tr("Open {0}").format(page))
        self.setVisible(bool(page))
