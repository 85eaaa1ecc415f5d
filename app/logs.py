"""The log file: rotating, in the data folder, with secrets taken out. Chat texts are never
logged."""

from __future__ import annotations

import faulthandler
import logging
import re
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

_SECRETS = (
    (re.compile(r"\bhf_[A-Za-z0-9]{8,}"), "hf_…"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}"), r"\1 …"),
    (
        re.compile(
            r"(?i)\b(token|password|passwd|secret|api[_-]?key)(\"?\s*[=:]\s*\"?)[^\s\"'&,;]+"
        ),
        r"\1\2…",
    ),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"), r"\1…@"),
)
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def redact(text: str) -> str:
    """`text` without tokens, passwords and credentials in addresses."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def start_logging(folder: Path) -> None:
    """Log to `folder`/edge0.log, and crashes of native code to `folder`/crash.log."""
    folder.mkdir(parents=True, exist_ok=True)
    faulthandler.enable((folder / "crash.log").open("a", encoding="utf-8"))
    handler = RotatingFileHandler(
        folder / "edge0.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8"
    )
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    sys.excepthook = _log_exception
    threading.excepthook = lambda args: _log_exception(
        args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
    )
    qInstallMessageHandler(_log_qt)


def _log_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    logging.getLogger("app").critical("unhandled error", exc_info=(kind, error, trace))
    if sys.stderr is not None:
        sys.__excepthook__(kind, error, trace)


def _log_qt(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), text)
