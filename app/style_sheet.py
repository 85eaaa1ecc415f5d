"""The style sheet: shapes and spacing of standard widgets, in a theme's colours."""

from __future__ import annotations

from string import Template

from app.theme import Theme

_SHEET = Template("""
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px 6px; }
QMainWindow::separator, QSplitter::handle { background: $border; width: 1px; height: 1px; }

#sidebar, #panel { background: $side; }
#sidebar { border-right: 1px solid $border; }
#panel { border-left: 1px solid $border; }
#panel QWidget#panelContent { background: $side; }
#chat, #chatContent { background: $window; }

QPushButton {
  background: $raised; border: 1px solid $border; border-radius: 8px; padding: 6px 14px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $muted; }
QPushButton[kind="primary"] {
  background: $accent; border-color: $accent; color: $on_accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_strong; }
QPushButton[kind="primary"]:focus { border-color: $text; }
QPushButton[kind="primary"]:disabled { background: $border; border-color: $border; color: $muted; }
QPushButton[kind="side"] {
  background: transparent; border: 1px solid transparent; text-align: left; padding: 7px 10px; }
QPushButton[kind="side"]:hover { background: $hover; }
QPushButton[kind="side"]:focus { border-color: $accent; }

QToolButton {
  background: transparent; border: 1px solid transparent; border-radius: 7px; padding: 4px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $pressed; }
QToolButton:focus { border-color: $accent; }
QToolButton::menu-indicator { image: none; }
QToolButton[kind="picker"] { padding: 6px 10px; font-weight: 600; }
QToolButton[kind="send"] { background: $accent; border-radius: 9px; padding: 5px; }
QToolButton[kind="send"]:hover { background: $accent_strong; }
QToolButton[kind="send"]:focus { border-color: $text; }
QToolButton[kind="send"]:disabled { background: $border; }
QToolButton[kind="jump"] {
  background: $raised; border: 1px solid $border; border-radius: 15px; padding: 5px 12px; }
QToolButton[kind="jump"]:hover { background: $hover; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit[kind="field"] {
  background: $raised; border: 1px solid $border; border-radius: 7px; padding: 5px 8px;
  selection-background-color: $selection; selection-color: $text; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus,
QPlainTextEdit[kind="field"]:focus { border-color: $accent; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; border: none; }
QAbstractSpinBox QLineEdit { border: none; padding: 0; background: transparent; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $border; padding: 4px; }

#composer { background: $raised; border: 1px solid $border; border-radius: 14px; }
#composer[active="true"] { border-color: $accent; }
#composerText { background: transparent; border: none; }

#bubble { background: $bubble; border-radius: 14px; }
#codeView, #tableView { background: $code; border: 1px solid $border; border-radius: 9px; }
#codeText, #tableText, #prose { background: transparent; border: none; }
#card { background: $side; border: 1px solid $border; border-radius: 14px; }
#notice { background: $warn_soft; border-bottom: 1px solid $border; }
#notice QLabel { color: $warn; }

QLabel[kind="muted"] { color: $muted; }
QLabel[kind="bad"] { color: $bad; }
QLabel[kind="warn"] { color: $warn; }
QLabel[kind="title"] { font-weight: 600; }

QListView { background: transparent; border: none; outline: none; }
QListView[kind="framed"] { background: $raised; border: 1px solid $border; border-radius: 7px; }
QListView[kind="framed"]:focus { border-color: $accent; }
QListView[kind="framed"]::item { padding: 6px 8px; }
QListView[kind="framed"]::item:selected { background: $selection; color: $text; }
QMenu { background: $raised; border: 1px solid $border; padding: 5px; }
QMenu::item { padding: 6px 22px 6px 12px; border-radius: 5px; }
QMenu::item:selected { background: $hover; color: $text; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: 5px 8px; }

QProgressBar { background: $border; border: none; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }

QTabWidget::pane { border: none; }
QTabBar::tab {
  padding: 7px 14px; border: none; border-bottom: 2px solid transparent; color: $muted; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:focus { color: $accent; }

QScrollArea { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 2px; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 2px; }
QScrollBar::handle { background: $border; border-radius: 3px; min-height: 32px; min-width: 32px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")


def style_sheet(theme: Theme) -> str:
    """The sheet for one theme."""
    return _SHEET.substitute({name: str(value) for name, value in vars(theme).items()})
