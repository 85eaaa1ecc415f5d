"""Third page: how to convert, and what it will take here, found out before anything is fetched."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QProgressBar, QPushButton, QWidget

from app import numbers
from app.commands import Order
from app.viewmodels.add_model import AddModel
from app.widgets.check_box import CheckBox
from app.widgets.settings_fields import Choice, add_field
from app.wizard.parts import Facts, Page, say, words
from app.wizard.refusal_box import RefusalBox


class OptionsPage(Page):
    """A hub is asked only when the button is pressed; local files are looked into at once."""

    def __init__(self, model: AddModel) -> None:
        super().__init__(model)
        self.heading.setText(self.tr("How to convert it"))
        self._form = form = QFormLayout()
        self.quant = Choice(
            [
                ("nf4", self.tr("nf4: 4 bits, best for most")),
                ("int4", self.tr("int4: 4 bits, even steps")),
                ("int8", self.tr("int8: 8 bits, nearly exact, twice the size")),
                ("bf16", self.tr("bf16: 16 bits, exact, four times the size")),
            ],
            "nf4",
        )
        self.first = self.quant
        add_field(form, self.tr("Number format"), self.quant)
        self.calibrate = CheckBox(self.tr("Lay the experts used most first (a few minutes more)"))
        self.calibrate.setChecked(True)
        form.addRow("", self.calibrate)
        self.look = QPushButton(self.tr("Ask the hub what it takes"))
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)
        self._bar.setAccessibleName(self.tr("Looking into the model"))
        self._facts, self._verdict, self._problem = Facts(), words(), words()
        self.column.addLayout(form)
        self._replaced = words()
        self.refusal = RefusalBox(model.login)
        for widget in (
            self._problem,
            self.refusal,
            self._look_row(),
            self._bar,
            self._facts,
            self._verdict,
            self._replaced,
        ):
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self.quant.currentIndexChanged.connect(self._changed)
        self.calibrate.toggled.connect(self._changed)
        self.look.clicked.connect(model.look)

    def _look_row(self) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.look)
        row.addStretch(1)
        return holder

    def enter(self) -> None:
        if self.model.order.kind == "local" and self.model.outlook is None:
            self.model.look()

    def take(self, order: Order) -> None:
        """Show an order of another day."""
        self.quant.setCurrentIndex(max(self.quant.findData(order.quant), 0))
        self.calibrate.setChecked(order.calibrate)

    def refresh(self) -> None:
        model, kind = self.model, self.model.order.kind
        starter = kind == "starter"
        for row in (self.quant, self.calibrate):  # the starter comes in one format
            self._form.setRowVisible(row, not starter)
        self.look.setVisible(kind == "hub" and not model.looking and model.outlook is None)
        self._bar.setVisible(model.looking)
        outlook = model.outlook
        self._facts.setVisible(outlook is not None)
        if outlook is not None:
            self._facts.show_facts(self._what_it_takes(outlook))
        say(self._verdict, self._judge(outlook), "title")
        replaced = self.tr("The one that is there is deleted when the new one is ready.")
        say(self._replaced, replaced if model.replaces else "", "warn")
        say(self._problem, model.look_problem, "bad")
        self.refusal.show_page(model.look_page)

    def _changed(self) -> None:
        self.model.choose(quant=self.quant.value, calibrate=self.calibrate.isChecked())
        self.enter()

    def _what_it_takes(self, outlook: Any) -> list[tuple[str, str]]:
        told, drive = outlook.forecast, self.model.machine.survey.drive
        size = numbers.size
        kind = self.tr("dense: all of it for every token")
        if not told.dense:
            kind = self.tr("{0} B used for a token").format(f"{told.active_parameters / 1e9:.1f}")
        count = self.tr("{0} B parameters").format(f"{told.parameters / 1e9:.1f}")
        disk = self.tr("{0} while it is made, {1} afterwards; {2} are free")
        memory = self.tr("runs from {0}, well from {1}, all of it in memory from {2}")
        free = self.tr("{0} of {1}")
        machine = self.model.machine.survey.memory
        return [
            (self.tr("Model"), f"{told.model_type} · {count} · {kind}"),
            (self.tr("Download"), size(told.download) if told.download else ""),
            (
                self.tr("Disk"),
                disk.format(size(self.model.disk_peak), size(told.output), size(drive.free_bytes)),
            ),
            (
                self.tr("Memory"),
                memory.format(
                    size(told.smallest_budget), size(told.token_budget), size(told.whole_budget)
                ),
            ),
            (self.tr("Free now"), free.format(size(machine.available), size(machine.total))),
            (self.tr("Speed"), self._speed(outlook.speed)),
        ]

    def _speed(self, speed: Any) -> str:
        if speed is None:
            return self.tr("unknown: measure this computer on the first page")
        rate, first = speed.decode_tok_s, speed.first_token_s
        text = self.tr("{0} to {1}; first word after {2} to {3}")
        ends = (numbers.speed(rate.low), numbers.speed(rate.high))
        return text.format(*ends, numbers.seconds(first.low), numbers.seconds(first.high))

    def _judge(self, outlook: Any) -> str:
        kind = self.model.order.kind
        if kind == "starter":
            return self.tr("The starter is ready made for a first try: just start.")
        if outlook is None:
            ask = self.tr("You may also start at once; it asks first and checks the room.")
            return ask if kind == "hub" and not self.model.looking else ""
        if self.model.disk_peak > self.model.machine.survey.drive.free_bytes:
            return self.tr("There is too little room on the drive for it.")
        if not outlook.fits:
            return self.tr("It does not fit into the memory that is free now. You may still try.")
        if outlook.speed is not None and outlook.speed.decode_tok_s.high < 1:
            return self.tr("It will run, but slower than a word a second.")
        if self.model.order.by_shard:
            return self.tr(
                "It will run here. The drive is small for it, so each downloaded file is deleted"
                " once it is converted."
            )
        return self.tr("It will run here.")
