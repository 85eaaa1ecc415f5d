"""Second page: which model: the starter, a suggestion, any of a hub, or files on this computer."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.commands import Order, is_address
from app.i18n import language_for
from app.viewmodels.add_model import AddModel
from app.widgets.login_box import LoginBox
from app.widgets.network_fields import hub_field, proxy_field
from app.widgets.settings_fields import Choice, add_field
from app.wizard.catalogue import CatalogueModel, read_catalogue
from app.wizard.parts import Page, say, words

STARTER, LIST, HUB, LOCAL = range(4)


class ModelPage(Page):
    """Nothing is sent to a network here."""

    def __init__(self, model: AddModel, language: str) -> None:
        super().__init__(model)
        self.heading.setText(self.tr("Which model?"))
        self._language = language_for(language)
        self.where = Choice(
            [
                ("starter", self.tr("The small starter model")),
                ("list", self.tr("A model we suggest")),
                ("hub", self.tr("Any model of a hub, by its name")),
                ("local", self.tr("Files on this computer")),
            ],
            "starter",
        )
        self.first = self.where
        self.where.setAccessibleName(self.tr("Where the model comes from"))
        self._sources = (self._starter(), self._list(), self._hub(), self._local())
        self._network = self._network_fields()
        for widget in (self.where, *self._sources, self._network, self._warning):
            self.column.addWidget(widget)
        self.column.setStretchFactor(self._sources[LIST], 1)
        self.column.addStretch()
        self._connect()
        self._changed()

    def _connect(self) -> None:
        self.where.currentIndexChanged.connect(self._changed)
        self.list.currentRowChanged.connect(self._changed)
        for field in (self.name, self.gguf, self.path, self.proxy):
            field.textChanged.connect(self._changed)
        self.endpoint.currentTextChanged.connect(self._changed)

    def _starter(self) -> QWidget:
        return _column(
            words(
                self.tr(
                    "SmolLM2 135M, Apache-2.0, 93 MB. A dense model for a first try: it runs on any"
                    " machine and answers simple questions."
                )
            )
        )

    def _list(self) -> QWidget:
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Suggested models"))
        self.list.setProperty("kind", "framed")
        self.catalogue = read_catalogue()
        for entry in self.catalogue:
            item = QListWidgetItem(self._line(entry))
            item.setToolTip(entry.id)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._about = words()
        return _column(self.list, self._about)

    def _hub(self) -> QWidget:
        page, form = QWidget(), QFormLayout()
        self.name, self.gguf = QLineEdit(), QLineEdit()
        self.name.setPlaceholderText("Qwen/Qwen3-30B-A3B-Instruct-2507")
        self.gguf.setPlaceholderText(self.tr("only when there are several, e.g. Q8_0"))
        add_field(form, self.tr("Model"), self.name)
        add_field(form, self.tr("GGUF file"), self.gguf)
        about = words(
            self.tr(
                "Qwen3-MoE, Mixtral, OLMoE, MiniMax-M2 and Llama models, as safetensors or GGUF."
                " Only weights and settings are fetched, never programs."
            ),
            "muted",
        )
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(form)
        column.addWidget(about)
        column.addStretch(1)
        return page

    def _local(self) -> QWidget:
        self.path = QLineEdit()
        self.path.setAccessibleName(self.tr("Folder or file"))
        self.path.setPlaceholderText(self.tr("A folder with safetensors files, or a GGUF file"))
        folder, file = QPushButton(self.tr("Folder…")), QPushButton(self.tr("GGUF file…"))
        folder.clicked.connect(self._pick_folder)
        file.clicked.connect(self._pick_file)
        row = QHBoxLayout()
        for widget in (self.path, folder, file):
            row.addWidget(widget)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(words(self.tr("The files stay where and as they are."), "muted"))
        column.addStretch(1)
        return page

    def _network_fields(self) -> QWidget:
        self.endpoint = hub_field(self.model.order.endpoint)
        self.proxy = proxy_field(self.model.proxy)
        self.login = LoginBox(self.model.login)
        self._warning = words(kind="warn")
        page = QWidget()
        form = QFormLayout(page)
        form.setContentsMargins(0, 0, 0, 0)
        add_field(form, self.tr("Hub"), self.endpoint)
        add_field(form, self.tr("Proxy"), self.proxy)
        label = QLabel(self.tr("Token"))
        label.setBuddy(self.login.token)
        form.addRow(label, self.login)
        return page

    def take(self, order: Order) -> None:
        """Show an order of another day."""
        self.where.setCurrentIndex({"starter": STARTER, "hub": HUB, "local": LOCAL}[order.kind])
        if order.kind == "hub":
            self.name.setText(order.source)
            self.gguf.setText(order.gguf)
            self.endpoint.setCurrentText(order.endpoint)
        elif order.kind == "local":
            self.path.setText(order.source)

    def _line(self, entry: CatalogueModel) -> str:
        used = self.tr("{0} B at a time").format(f"{entry.active_b:g}")
        kind = self.tr("dense") if entry.dense else used
        disk = self.tr("{0} GB on disk").format(f"{entry.converted_gb:g}")
        return " · ".join((entry.name, f"{entry.parameters_b:g} B", kind, disk))

    def _describe(self, entry: CatalogueModel) -> str:
        text = self.tr("{0} Licence {1}; download {2} GB; for {3} GB of memory or more.")
        about = entry.about.get(self._language) or entry.about["en"]
        return text.format(about, entry.license, f"{entry.download_gb:g}", entry.memory_gb)

    def _changed(self) -> None:
        where = self.where.currentIndex()
        for place, page in enumerate(self._sources):
            page.setVisible(place == where)
        self._network.setVisible(where in (LIST, HUB))
        entry = self.catalogue[max(self.list.currentRow(), 0)]
        self._about.setText(self._describe(entry))
        source = {LIST: entry.id, HUB: self.name.text().strip(), LOCAL: self.path.text().strip()}
        gguf = {LIST: entry.gguf, HUB: self.gguf.text().strip()}
        endpoint = self.endpoint.currentText().strip().rstrip("/")
        self.model.proxy = self.proxy.text().strip()
        say(self._warning, self._network_problem(endpoint), "warn")
        self.model.choose(
            kind=("starter", "hub", "hub", "local")[where],
            source=source.get(where, ""),
            gguf=gguf.get(where, ""),
            endpoint=endpoint,
        )

    def _network_problem(self, endpoint: str) -> str:
        if not is_address(endpoint):
            return self.tr("The hub needs an address such as https://huggingface.co.")
        if self.model.proxy and not is_address(self.model.proxy):
            return self.tr("A proxy is an address such as http://proxy.example:8080.")
        return ""

    @property
    def ready(self) -> bool:
        order = self.model.order
        if order.kind == "hub":
            owner, _, name = order.source.partition("/")
            return bool(owner and name) and not self._network_problem(order.endpoint)
        return order.kind == "starter" or (bool(order.source) and Path(order.source).exists())

    def _pick_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Folder with a model"))
        if folder:
            self.path.setText(folder)

    def _pick_file(self) -> None:
        file, _ = QFileDialog.getOpenFileName(self, self.tr("GGUF file"), "", "GGUF (*.gguf)")
        if file:
            self.path.setText(file)


def _column(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        column.addWidget(widget)
    if not isinstance(widgets[0], QListWidget):
        column.addStretch(1)
    column.setAlignment(Qt.AlignmentFlag.AlignTop)
    return page
