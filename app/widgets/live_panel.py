"""The live numbers beside the chat. Samples are taken only while it is on screen."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app import numbers
from app.theme import resized
from app.viewmodels.stats import HISTORY, Stats, StatsModel
from app.widgets.io_row import IoRow
from app.widgets.stat_row import StatRow

WIDTH = 264


class LivePanel(QScrollArea):
    """Memory, SSD, experts and speed; each number says in its tooltip what it measures."""

    def __init__(self, model: StatsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName(self.tr("Live numbers"))
        self.setFixedWidth(WIDTH)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._model = model
        self._rows: dict[str, StatRow] = {}
        content = QWidget(self)
        content.setObjectName("panelContent")
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(16, 16, 16, 16)
        self._column.setSpacing(7)
        self._build()
        self._column.addStretch(1)
        self.setWidget(content)
        model.changed.connect(self._show)
        self._show()

    def row(self, name: str) -> StatRow:
        """A row by the name of its value in Stats."""
        return self._rows[name]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._model.watch(False)

    def _build(self) -> None:
        self._build_memory()
        self._build_disk()
        self._build_speed()

    def _build_memory(self) -> None:
        self._title(self.tr("Memory"))
        self._add(
            "working_set",
            self.tr("Working set"),
            self.tr("Memory of this app that is in RAM right now. This is what the budget bounds."),
            plot=True,
        )
        self._add(
            "committed",
            self.tr("Committed"),
            self.tr(
                "Private memory the system has promised to this app. Model files that are only read"
                " do not count."
            ),
        )
        self._add(
            "virtual",
            self.tr("Virtual"),
            self.tr(
                "Address space in use. Mapped model files count in full here, although most of them"
                " are not in RAM: a large number is normal and costs nothing."
            ),
        )
        self._add(
            "kv_bytes",
            self.tr("KV cache"),
            self.tr("Memory that holds the attention keys and values of the conversation."),
        )

    def _build_disk(self) -> None:
        self._title(self.tr("SSD"))
        self._add("read_rate", self.tr("Read rate"), self._read_tip(), plot=True)
        self._add(
            "expert_reads",
            self.tr("Expert reads"),
            self.tr("Expert records read from the SSD each second."),
        )
        self._add(
            "major_faults",
            self.tr("Page faults, hard"),
            self.tr("Page faults each second that had to read from the drive."),
        )
        self._add(
            "minor_faults",
            self.tr("Page faults, soft"),
            self.tr("Page faults each second that found their page in memory already."),
        )

    def _build_speed(self) -> None:
        self._title(self.tr("Experts"))
        self._add(
            "hit_rate",
            self.tr("Hit rate"),
            self.tr("Share of expert uses that were found in memory and not read from the SSD."),
            plot=True,
        )
        self._io = IoRow(self)
        self._rows["io"] = self._io
        self._column.addWidget(self._io)
        self._title(self.tr("Speed"))
        self._add(
            "first_token_s",
            self.tr("First token"),
            self.tr("Time from sending the last prompt to the first text of its reply."),
        )
        self._add(
            "prefill_tok_s",
            self.tr("Prefill"),
            self.tr("Prompt tokens computed each second; reused ones do not count."),
        )
        self._add(
            "decode_tok_s",
            self.tr("Decode"),
            self.tr("Tokens written each second, without the first one."),
            plot=True,
        )

    def _read_tip(self) -> str:
        return self.tr(
            "Bytes this app reads from the drive each second. Linux: counted below the page cache."
            " Windows and macOS: as the system counts reads, which may include cached ones."
        )

    def _title(self, text: str) -> None:
        label = QLabel(text, self)
        label.setFont(resized(self.font(), 0.92, QFont.Weight.DemiBold))
        if self._column.count():
            self._column.addSpacing(12)
        self._column.addWidget(label)

    def _add(self, key: str, name: str, tip: str, plot: bool = False) -> None:
        row = StatRow(name, tip, HISTORY if plot else 0, self)
        self._rows[key] = row
        self._column.addWidget(row)

    def _show(self) -> None:
        now = self._model.now
        for key, text in _texts(now).items():
            self._rows[key].set_value(text)
        self._io.show_choice(now.io, now.memory_change)
        scale = {
            "working_set": float(now.budget),
            "hit_rate": 1.0,
            "read_rate": 1e6,
            "decode_tok_s": 1.0,
        }
        for key, series in self._model.series.items():
            plot = self._rows[key].plot
            if plot is not None:
                plot.show_values(list(series), scale[key])


def _texts(now: Stats) -> dict[str, str]:
    used = numbers.size(now.working_set)
    return {
        "working_set": f"{used} / {numbers.size(now.budget)}" if now.budget else used,
        "committed": numbers.size(now.committed),
        "virtual": numbers.size(now.virtual),
        "kv_bytes": numbers.size(now.kv_bytes),
        "read_rate": numbers.rate(now.read_rate),
        "expert_reads": numbers.per_second(now.expert_reads),
        "major_faults": numbers.per_second(now.major_faults),
        "minor_faults": numbers.per_second(now.minor_faults),
        "hit_rate": numbers.percent(now.hit_rate),
        "first_token_s": numbers.seconds(now.first_token_s),
        "prefill_tok_s": numbers.speed(now.prefill_tok_s),
        "decode_tok_s": numbers.speed(now.decode_tok_s),
    }
