"""The window that leads from nothing to a first chat. Not modal: the chat stays usable."""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.commands import Order
from app.theme import set_kind
from app.viewmodels.add_model import AddModel
from app.viewmodels.unfinished import UnfinishedModel
from app.widgets.scrolled import scrolled
from app.wizard.defender_page import DefenderPage
from app.wizard.machine_page import MachinePage
from app.wizard.model_page import ModelPage
from app.wizard.options_page import OptionsPage
from app.wizard.parts import Page
from app.wizard.work_page import WorkPage


class Wizard(QDialog):
    """Opens at the work while there is work; `chat_wanted` when the model is there."""

    chat_wanted = Signal()

    def __init__(
        self,
        model: AddModel,
        unfinished: UnfinishedModel,
        language: str,
        parent: QWidget | None = None,
        defender: bool = sys.platform == "win32",
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Add a model"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 580)
        self.model = model
        if not model.job.alive:
            model.begin_anew()
        self.machine, self.choice = MachinePage(model, unfinished), ModelPage(model, language)
        self.options, self.work = OptionsPage(model), WorkPage(model)
        self.pages: list[Page] = [self.machine, self.choice, self.options, self.work]
        if defender:
            self.pages.append(DefenderPage(model))
        self._stack = QStackedWidget()
        for page in self.pages:
            self._stack.addWidget(scrolled(page))
        self.back = QPushButton(self.tr("Back"))
        self.next = QPushButton()
        set_kind(self.next, "primary")
        self.leave = QPushButton(self.tr("Close"))
        self._lay_out()
        self.back.clicked.connect(lambda: self.go(self.at - 1))
        self.next.clicked.connect(self._forward)
        self.leave.clicked.connect(self.reject)
        self.machine.unfinished.resumed.connect(lambda: self.go(self.pages.index(self.work)))
        model.changed.connect(self.refresh)
        at_work = model.job.state not in ("idle", "done")
        self.go(self.pages.index(self.work) if at_work else 0)

    @property
    def at(self) -> int:
        """The number of the page shown."""
        return self._stack.currentIndex()

    def go(self, number: int) -> None:
        """Show a page; the keyboard is at its first choice, so that nothing is skipped unseen."""
        self._stack.setCurrentIndex(number)
        self.pages[number].enter()
        self.refresh()
        first = self.pages[number].first
        usable = first is not None and first.isEnabled() and not first.isHidden()
        (first if first is not None and usable else self.next).setFocus()

    def make_again(self, order: Order) -> None:
        """Ask how to convert what is known already; nothing happens while work goes on."""
        if not self.model.job.alive:
            self.choice.take(order)
            self.options.take(order)
            self.model.make_again(order)
            self.go(self.pages.index(self.options))

    def refresh(self) -> None:
        """Show the page's state and what can be done now."""
        page = self.pages[self.at]
        page.refresh()
        at_work = page is self.work
        busy = self.model.job.alive
        self.back.setVisible(self.at > 0)
        self.back.setEnabled(not busy)
        text = self.tr("Start") if page is self.options else self.tr("Next")
        last = page is self.pages[-1]
        self.next.setText(self.tr("Start chatting") if last else text)
        self.next.setEnabled(page.ready)
        self.leave.setText(self.tr("Close") if at_work else self.tr("Cancel"))

    def done(self, result: int) -> None:
        """However it is closed: what was only for looking stops, work goes on."""
        if self.isVisible():
            self.model.changed.disconnect(self.refresh)
            self.model.machine.cancel_measuring()
            self.model.cancel_looking()
        super().done(result)

    def _forward(self) -> None:
        if self.at == len(self.pages) - 1:
            self.chat_wanted.emit()
            self.accept()
            return
        if self.pages[self.at] is self.options:
            self.model.start()
        self.go(self.at + 1)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(26, 10, 26, 18)
        row.addWidget(self.leave)
        row.addStretch(1)
        row.addWidget(self.back)
        row.addWidget(self.next)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._stack, 1)
        column.addLayout(row)
