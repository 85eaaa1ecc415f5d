"""The main window: composition only. Sidebar, top bar, chat, live panel, shortcuts."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from app.commands import Order
from app.core import Core
from app.settings import Settings
from app.widgets.chat_page import ChatPage
from app.widgets.doctor_dialog import DoctorDialog
from app.widgets.downloads_page import DownloadsPage
from app.widgets.exclusions_page import ExclusionsPage
from app.widgets.icon_button import IconButton
from app.widgets.live_panel import LivePanel
from app.widgets.model_picker import ModelPicker
from app.widgets.models_dialog import ModelsDialog
from app.widgets.settings_dialog import SettingsDialog
from app.widgets.sidebar import Sidebar
from app.wizard.wizard import Wizard


class MainWindow(QMainWindow):
    """Made anew when the language changes; everything that lasts is in the core."""

    closed = Signal()

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.setWindowTitle(self.tr("Edge0"))
        self._core = core
        self._losing = False  # whether to close although something could not be saved
        self.sidebar = Sidebar(core.conversations, self)
        self.page = ChatPage(core.chat, core.library, core.starter, self)
        self.panel = LivePanel(core.stats, self)
        self.picker = ModelPicker(core.library, self)
        self.setCentralWidget(self._lay_out())
        self._connect()
        self._add_shortcuts()
        self._restore()
        self.page.composer.entry.setFocus()

    def _lay_out(self) -> QWidget:
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._top_bar())
        middle.addWidget(self.page, 1)
        content = QWidget(self)
        content.setObjectName("chat")
        row = QHBoxLayout(content)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.sidebar)
        row.addLayout(middle, 1)
        row.addWidget(self.panel)
        return content

    def _top_bar(self) -> QWidget:
        bar = QFrame(self)
        bar.setObjectName("topBar")
        self._sidebar_button = IconButton(
            "sidebar", self.tr("Show or hide the chats (Ctrl+B)"), bar, side=20
        )
        self._panel_button = IconButton(
            "panel", self.tr("Show or hide the live numbers (Ctrl+J)"), bar, side=20
        )
        for button in (self._sidebar_button, self._panel_button):
            button.setCheckable(True)
        row = QHBoxLayout(bar)
        row.setContentsMargins(10, 8, 10, 8)
        row.addWidget(self._sidebar_button)
        row.addWidget(self.picker)
        row.addStretch(1)
        row.addWidget(self._panel_button)
        return bar

    def _connect(self) -> None:
        core = self._core
        self.sidebar.new_chat.connect(self.new_chat)
        self.sidebar.opened.connect(self.open_conversation)
        self.sidebar.deleted.connect(self.delete_conversation)
        self.sidebar.settings.connect(self.edit_settings)
        self.picker.folder_wanted.connect(self.pick_folder)
        self.picker.add_wanted.connect(self.add_model)
        self.picker.manage_wanted.connect(self.manage_models)
        self.picker.check_wanted.connect(self.check_computer)
        self.page.welcome.card.start_wanted.connect(core.get_starter)
        self.page.welcome.card.more_wanted.connect(self.add_model)
        self.page.welcome.card.folder_wanted.connect(self.pick_folder)
        self._sidebar_button.toggled.connect(self._show_sidebar)
        self._panel_button.toggled.connect(self._show_panel)
        core.chat.conversation_changed.connect(self._mark_conversation)
        core.conversations.modelReset.connect(self._mark_conversation)
        core.settings_changed.connect(self._use_settings)
        core.write_failed.connect(self._tell_write_failure)
        self._use_settings(core.settings, core.settings)

    def _add_shortcuts(self) -> None:
        for keys, action in (
            (QKeySequence(QKeySequence.StandardKey.New), self.new_chat),
            (QKeySequence("Ctrl+K"), self.sidebar.search.setFocus),
            (QKeySequence("Ctrl+,"), self.edit_settings),
            (QKeySequence("Ctrl+B"), self._sidebar_button.toggle),
            (QKeySequence("Ctrl+J"), self._panel_button.toggle),
            (QKeySequence("Ctrl+L"), self.page.composer.entry.setFocus),
            (QKeySequence("Ctrl+M"), self.picker.showMenu),
            (QKeySequence("Ctrl+Shift+M"), self.add_model),
            (QKeySequence(QKeySequence.StandardKey.Quit), self.close),
        ):
            QShortcut(keys, self).activated.connect(action)

    # what the parts ask for

    def new_chat(self) -> None:
        """Show an empty chat."""
        self.keep_draft()
        self._core.chat.open(None)
        self.page.composer.entry.setFocus()

    def open_conversation(self, number: int) -> None:
        """Show a conversation of the list."""
        found = self._core.conversations.conversation(self._core.conversations.row_of(number))
        if found is not None and number != self._core.chat.conversation:
            self.keep_draft()
            self._core.chat.open(found)

    def delete_conversation(self, number: int) -> None:
        """Take a conversation away, with a way back."""
        core = self._core
        if core.chat.reply is not None and core.chat.reply.message.conversation == number:
            core.chat.stop()
        core.conversations.set_deleted(number, True)
        if core.chat.conversation == number:
            self.new_chat()
        self.page.notice.show_notice(
            self.tr("The chat was deleted."),
            self.tr("Undo"),
            lambda: core.conversations.set_deleted(number, False),
        )

    def pick_folder(self) -> None:
        """Let the user choose a converted model."""
        folder = QFileDialog.getExistingDirectory(self, self.tr("Open a model folder"))
        if folder:
            self._core.library.add(Path(folder))

    def add_model(self) -> None:
        """Open the wizard, or bring it to the front."""
        self._wizard().activateWindow()

    def make_again(self, order: Order) -> None:
        """Open the wizard where one chooses how to convert what is known already."""
        self._wizard().make_again(order)

    def _wizard(self) -> Wizard:
        core = self._core
        open_ones = (w for w in self.findChildren(Wizard) if w.isVisible())
        wizard = next(open_ones, None)
        if wizard is None:
            wizard = Wizard(core.adding, core.unfinished, core.settings.language, self)
            wizard.chat_wanted.connect(self.new_chat)
            wizard.show()
        else:
            wizard.raise_()
        return wizard

    def manage_models(self) -> None:
        """Open the list of models."""
        dialog = ModelsDialog(self._core.manage, self._core.unfinished, self)
        dialog.again_wanted.connect(self.make_again)
        dialog.work_wanted.connect(self.add_model)
        dialog.show()

    def check_computer(self) -> None:
        """Open the doctor."""
        DoctorDialog(self._core.examine, self._core.export, self).open()

    def edit_settings(self) -> None:
        """Open the settings."""
        core = self._core
        downloads = DownloadsPage(core.settings, core.usual_models_folder, core.adding.login)
        excluded = ExclusionsPage(core.exclusions) if sys.platform == "win32" else None
        dialog = SettingsDialog(core.settings, downloads, self, excluded)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted_settings.connect(self._keep_chosen)
        dialog.open()

    def _keep_chosen(self, chosen: Settings) -> None:
        """What nobody chose in the dialog may have changed while it was open."""
        now = self._core.settings
        token, models = now.hub_token_kept, now.models
        self._core.keep(replace(chosen, hub_token_kept=token, models=models))

    def tell(self, text: str) -> None:
        """Show a notice."""
        self.page.notice.show_notice(text)

    # keeping and restoring

    def closeEvent(self, event: QCloseEvent) -> None:
        self.keep_state()
        if self._core.archive.owes and not self._losing:
            event.ignore()
            self._warn_of_loss()
            return
        self.closed.emit()
        super().closeEvent(event)

    def _warn_of_loss(self) -> None:
        self.page.notice.show_notice(
            self.tr(
                "The disk is full: part of your chats is not saved yet and would be lost now. Free"
                " some space, then close again."
            ),
            self.tr("Close anyway"),
            self._close_anyway,
        )

    def _close_anyway(self) -> None:
        self._losing = True
        self.close()

    def keep_state(self) -> None:
        """Store the draft and where the window stands."""
        self.keep_draft()
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self._core.keep(replace(self._core.settings, geometry=geometry))

    def keep_draft(self) -> None:
        """Store what is typed and not sent."""
        self.page.composer.keep_pending_draft()

    def _restore(self) -> None:
        geometry = QByteArray.fromBase64(self._core.settings.geometry.encode())
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            self.resize(1240, 800)
        self.page.setMinimumWidth(360)
        self.setMinimumHeight(420)

    def _use_settings(self, old: Settings, new: Settings) -> None:
        self.page.composer.entry.ctrl_enter_sends = new.ctrl_enter_sends
        self.sidebar.setVisible(new.show_sidebar)
        self.panel.setVisible(new.show_panel)
        self._sidebar_button.setChecked(new.show_sidebar)
        self._panel_button.setChecked(new.show_panel)
        self.page.welcome.card.show_place(str(self._core.adding.order.models))

    def _show_sidebar(self, shown: bool) -> None:
        self._core.keep(replace(self._core.settings, show_sidebar=shown))

    def _show_panel(self, shown: bool) -> None:
        self._core.keep(replace(self._core.settings, show_panel=shown))

    def _mark_conversation(self) -> None:
        self.sidebar.select(self._core.chat.conversation)

    def _tell_write_failure(self, text: str) -> None:
        self.tell(text)
