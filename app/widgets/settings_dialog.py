"""Settings: how the app looks, how the chat answers, what the engine may use."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QPlainTextEdit,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.sampling import Sampling
from app.settings import IoChoice, LanguageChoice, Settings, ThemeChoice
from app.theme import set_kind
from app.widgets.check_box import CheckBox
from app.widgets.downloads_page import DownloadsPage
from app.widgets.scrolled import scrolled
from app.widgets.settings_fields import Choice, Number, add_field, settings_form


class SettingsDialog(QDialog):
    """`accepted_settings` carries the changed record."""

    accepted_settings = Signal(object)

    def __init__(
        self,
        settings: Settings,
        downloads: DownloadsPage,
        parent: QWidget | None = None,
        exclusions: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self.resize(560, 470)
        self._settings = settings
        tabs = QTabWidget(self)
        tabs.setDocumentMode(True)
        for part in (tabs, tabs.tabBar()):
            part.setAccessibleName(self.tr("Settings pages"))
        tabs.addTab(scrolled(self._general_page()), self.tr("General"))
        tabs.addTab(scrolled(self._chat_page()), self.tr("Chat"))
        tabs.addTab(scrolled(self._engine_page()), self.tr("Engine"))
        tabs.addTab(scrolled(downloads), self.tr("Downloads"))
        if exclusions is not None:
            tabs.addTab(scrolled(exclusions), self.tr("Windows Defender"))
        self.tabs, self.downloads = tabs, downloads
        buttons = QDialogButtonBox(self)
        save = buttons.addButton(self.tr("Save"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_kind(save, "primary")
        buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(tabs)
        column.addWidget(buttons)

    def result_settings(self) -> Settings:
        """The settings as the fields stand."""
        return self.downloads.applied(self._chosen())

    def _chosen(self) -> Settings:
        return replace(
            self._settings,
            theme=cast(ThemeChoice, self._theme.value),
            language=cast(LanguageChoice, self._language.value),
            ctrl_enter_sends=self._ctrl_enter.isChecked(),
            system_prompt=self._system.toPlainText(),
            sampling=self._sampling(),
            memory_budget_gb=self._budget.number,
            io_mode=cast(IoChoice, self._io.value),
            threads=self._threads.whole,
            context_tokens=self._context.whole,
        )

    def _sampling(self) -> Sampling:
        return Sampling(
            max_tokens=self._max_tokens.whole or 1,
            temperature=self._temperature.number,
            top_k=self._top_k.whole,
            top_p=self._top_p.number,
            min_p=self._min_p.number,
            repetition_penalty=self._penalty.number,
            seed=self._seed.whole,
        )

    def _save(self) -> None:
        self.accepted_settings.emit(self.result_settings())
        self.accept()

    def _general_page(self) -> QWidget:
        page, form = _page()
        now = self._settings
        themes = [
            ("auto", self.tr("As the system")),
            ("light", self.tr("Light")),
            ("dark", self.tr("Dark")),
        ]
        self._theme = Choice(themes, now.theme)
        add_field(form, self.tr("Theme"), self._theme)
        languages = [("auto", self.tr("As the system")), ("en", "English"), ("zh", "简体中文")]
        self._language = Choice(languages, now.language)
        add_field(form, self.tr("Language"), self._language)
        self._ctrl_enter = CheckBox(self.tr("Ctrl+Enter sends, Enter breaks the line"))
        self._ctrl_enter.setChecked(now.ctrl_enter_sends)
        form.addRow("", self._ctrl_enter)
        return page

    def _chat_page(self) -> QWidget:
        page, form = _page()
        now = self._settings.sampling
        self._system = QPlainTextEdit(self._settings.system_prompt)
        self._system.setProperty("kind", "field")
        self._system.setTabChangesFocus(True)
        self._system.setFixedHeight(96)
        self._system.setPlaceholderText(self.tr("How the model should behave, in every chat"))
        add_field(form, self.tr("System prompt"), self._system)
        own = self.tr("Model's own")
        self._temperature = Number(now.temperature, 0, 10, 2, own)
        self._max_tokens = Number(now.max_tokens, 1, 1 << 20)
        self._top_k = Number(now.top_k, 0, 100_000, automatic=own)
        self._top_p = Number(now.top_p, 0.01, 1, 2, own)
        self._min_p = Number(now.min_p, 0, 0.99, 2, own)
        self._penalty = Number(now.repetition_penalty, 0.1, 10, 2, own)
        self._seed = Number(now.seed, 0, (1 << 53) - 1, automatic=self.tr("Another one each time"))
        for name, field, tip in (
            (
                self.tr("Temperature"),
                self._temperature,
                self.tr("0 always takes the likeliest token"),
            ),
            (self.tr("Longest reply"), self._max_tokens, self.tr("In tokens")),
            (self.tr("Top-k"), self._top_k, self.tr("0 is off")),
            (self.tr("Top-p"), self._top_p, self.tr("1 is off")),
            (self.tr("Min-p"), self._min_p, self.tr("0 is off")),
            (self.tr("Repetition penalty"), self._penalty, self.tr("1 is off")),
            (self.tr("Seed"), self._seed, self.tr("The same seed gives the same reply again")),
        ):
            add_field(form, name, field, tip)
        return page

    def _engine_page(self) -> QWidget:
        page, form = _page()
        now = self._settings
        automatic = self.tr("Automatic")
        self._budget = Number(now.memory_budget_gb, 0.5, 4096, 1, automatic, " GB")
        self._io = Choice(
            [
                ("auto", self.tr("Automatic: measure and choose")),
                ("mapped", self.tr("Mapped: use the system's file cache")),
                ("direct", self.tr("Direct: read past the file cache")),
            ],
            now.io_mode,
        )
        self._threads = Number(now.threads, 1, 256, automatic=automatic)
        self._context = Number(now.context_tokens, 16, 1 << 20, automatic=automatic)
        for name, field, tip in (
            (
                self.tr("Memory budget"),
                self._budget,
                self.tr("How much RAM the whole app may use, everything included"),
            ),
            (self.tr("Expert reading"), self._io, ""),
            (self.tr("Threads"), self._threads, ""),
            (
                self.tr("Context"),
                self._context,
                self.tr("In tokens; a longer one needs more memory"),
            ),
        ):
            add_field(form, name, field, tip)
        note = QLabel(self.tr("Changes here open the model again."))
        note.setProperty("kind", "muted")
        form.addRow("", note)
        return page


def _page() -> tuple[QWidget, QFormLayout]:
    page = QWidget()
    return page, settings_form(page)
