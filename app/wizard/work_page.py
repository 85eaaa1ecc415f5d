"""Fourth page: the work of the child process: what, how far, how fast, how long; pause, go on."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton

from app import numbers
from app.viewmodels.add_model import AddModel
from app.wizard.parts import Page, say, words
from app.wizard.refusal_box import RefusalBox


class WorkPage(Page):
    """Follows the job, whoever started it."""

    def __init__(self, model: AddModel) -> None:
        super().__init__(model)
        self.heading.setText(self.tr("Getting the model"))
        self._what, self._rate, self._detail = words(), words(kind="muted"), words(kind="muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress of getting the model"))
        self.first = self.pause = QPushButton(self.tr("Pause"))
        self.go_on = QPushButton(self.tr("Go on"))
        self.go_on.setProperty("kind", "primary")
        row = QHBoxLayout()
        for button in (self.pause, self.go_on):
            row.addWidget(button)
        row.addStretch(1)
        self._hint = words(kind="muted")
        for widget in (self._what, self._bar, self._rate, self._detail):
            self.column.addWidget(widget)
        self.refusal = RefusalBox(model.login)
        self.column.addWidget(self.refusal)
        self.column.addLayout(row)
        self.column.addWidget(self._hint)
        self.column.addStretch(1)
        self.pause.clicked.connect(model.job.cancel)
        self.go_on.clicked.connect(lambda: model.go_on())

    def refresh(self) -> None:
        job = self.model.job
        running = job.state == "running"
        say(self._what, self._state(), "title")
        self._bar.setRange(0, 1000 if job.total or not running else 0)
        if job.total:
            self._bar.setValue(min(1000, 1000 * job.done // job.total))
        self._bar.setAccessibleDescription(self._what.text())
        say(self._rate, self._pace() if running else "", "muted")
        failed = job.state == "failed"
        problem = " ".join(part for part in (job.error, job.next_step) if part)
        notes = "\n".join(job.notes) if job.state == "done" else job.detail
        say(self._detail, problem if failed else notes, "bad" if failed else "muted")
        say(self._hint, self._next(), "muted")
        self.refusal.show_page(job.page if failed else "")
        self.pause.setVisible(running)
        self.go_on.setVisible(job.state in ("cancelled", "failed"))
        self.go_on.setEnabled(not job.alive)

    @property
    def ready(self) -> bool:
        return self.model.job.state == "done"

    def _state(self) -> str:
        job = self.model.job
        if job.state == "failed":
            return self.tr("It did not work.")
        if job.state == "cancelled":
            return self.tr("Paused. What is there is kept; it goes on from there.")
        if job.state == "done":
            return self.tr("The model is ready.")
        what = job.what or self.tr("Starting…")
        if job.stage == "download":
            return self.tr("Downloading: {0}").format(what)
        return what

    def _next(self) -> str:
        """What one may do now."""
        job, order = self.model.job, self.model.at_work
        if job.state == "running":
            return self.tr(
                "You may close this window, and chat with another model: the work goes on."
            )
        if job.state == "done" and order is not None:
            kept = self.tr(
                "It is kept in {0}. You can chat with it now; it stays in the list of models."
            )
            return kept.format(order.models / order.name)
        return ""

    def _pace(self) -> str:
        job = self.model.job
        if not job.total:
            return ""
        parts = [numbers.percent(job.done / job.total)]
        if job.stage == "download":
            parts.append(f"{numbers.size(job.done)} / {numbers.size(job.total)}")
            parts.append(numbers.rate(job.rate))
        if job.eta_s is not None:
            parts.append(self.tr("{0} left").format(numbers.seconds(job.eta_s)))
        return " · ".join(parts)
