"""This computer, without widgets: what it is, how fast, and its scanner of new files.

Surveying and measuring run on threads of their own; results arrive on the window's. Nothing is
measured or changed before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.engine_text import said
from engine import Progress, StopFlag


class Machine(QObject):
    """`changed` after anything here changed; `folder` tells where models are kept."""

    changed = Signal()
    speed_known = Signal()
    _step = Signal(object)

    def __init__(
        self,
        door: Any,
        folder: Callable[[], Path],
        ledger: Path,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._door, self._folder = door, folder
        self.ledger = ledger
        self.survey: Any = None
        self.measured: Any = None
        self.measure_step: Progress | None = None
        self.measure_problem = ""
        self._surveying, self._measuring = Background(self), Background(self)
        self._surveying.done.connect(self._surveyed)
        self._measuring.done.connect(self._was_measured)
        self._measuring.failed.connect(self._not_measured)
        self._step.connect(self._show_step)

    def look_around(self) -> None:
        """Read what the machine says about itself."""
        folder = self._folder()
        self._surveying.start(lambda stop: self._door.survey(folder))

    def known(self) -> Any:
        """The survey, made now if there is none yet."""
        if self.survey is None:
            self.survey = self._door.survey(self._folder())
        return self.survey

    @property
    def measuring(self) -> bool:
        """Whether the machine is being measured."""
        return self._measuring.running

    def measure(self) -> None:
        """Measure processor and drive, for about five seconds."""
        folder, tell = self._folder(), self._step.emit

        def work(stop: StopFlag) -> Any:
            return self._door.measure_machine(folder, stop, tell)

        self.measure_problem = ""
        self._measuring.start(work)
        self.changed.emit()

    def cancel_measuring(self) -> None:
        """Stop measuring."""
        self._measuring.cancel()
        self.measure_step = None
        self.changed.emit()

    def forget_speed(self) -> None:
        """What was measured was another drive."""
        self.cancel_measuring()
        self.measured = None

    def measure_stall(self, stop: StopFlag) -> Any:
        """How long a scanner holds up a new file; any thread, for some seconds."""
        return self._door.measure_stall(self._folder(), stop)

    def explain(self, status: Any) -> str:
        """What to know about Defender on this computer before excluding anything."""
        return said(self._door.defender_explanation(status))

    @property
    def exclusion(self) -> Any:
        """The step that excludes expert files from Windows Defender."""
        return self._door.DefenderExclusion(self._folder(), self.ledger)

    def close(self) -> None:
        """End everything."""
        self._surveying.close()
        self._measuring.close()

    def _surveyed(self, survey: Any) -> None:
        self.survey = survey
        self.changed.emit()

    def _show_step(self, step: Progress) -> None:
        self.measure_step = step if self.measuring else None
        self.changed.emit()

    def _was_measured(self, measured: Any) -> None:
        self.measured, self.measure_step = measured, None
        self.speed_known.emit()
        self.changed.emit()

    def _not_measured(self, problem: str) -> None:
        self.measure_problem, self.measure_step = problem, None
        self.changed.emit()
