"""The folder a download goes to: full, shared, half there, of many files; never believed unseen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import DownloadError, Edge0Error, StorageError
from engine.hub.download import download
from engine.hub.marker import is_complete
from engine.hub.policy import DownloadPolicy
from engine.hub.progress import DownloadProgress
from tests.engine.hub.conftest import FILES, TOTAL, blob, plan_of, whole
from tests.helpers.fake_hub import FakeHub


def test_a_full_disk_is_told_and_nothing_is_lost(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.hub import worker

    class Full:
        """A file on a disk that fills up."""

        left = 500_000

        def __init__(self, path: Path, *args: object, **options: object) -> None:
            self._file = open(path, *args, **options)  # type: ignore[call-overload]  # noqa: SIM115

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def seek(self, position: int) -> None:
            self._file.seek(position)

        def write(self, data: memoryview) -> int:
            Full.left -= len(data)
            if Full.left < 0:
                raise OSError(28, "No space left on device")
            return int(self._file.write(data))

    monkeypatch.setattr(worker, "open", Full, raising=False)
    plan = plan_of(hub)
    with pytest.raises(StorageError, match="disk is full") as caught:
        download(plan, odd_folder, policy=quick)
    assert "goes on where it stopped" in caught.value.next_step
    monkeypatch.undo()
    before = hub.body_bytes()
    download(plan, odd_folder, policy=quick)
    assert whole(odd_folder, FILES)
    assert hub.body_bytes() - before < TOTAL - 200_000


def test_too_little_space_is_told_before_the_first_byte(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    plan = plan_of(hub)
    hub.requests.clear()
    with pytest.raises(StorageError, match="for the download and the conversion"):
        download(plan, odd_folder, policy=quick, reserve_bytes=1 << 60)
    assert not hub.requests


def test_two_downloads_of_one_folder_do_not_mix(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    plan, errors = plan_of(hub), list[str]()

    def second(_: DownloadProgress) -> None:
        if not errors:
            try:
                download(plan, odd_folder, policy=quick)
            except Edge0Error as error:
                errors.append(error.message)

    download(plan, odd_folder, second, policy=quick)
    assert "Another download is writing" in errors[0]


def test_a_file_that_changed_its_size_is_not_believed(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    plan = plan_of(hub)
    hub.models["org/model"]["model-2.safetensors"] = blob(250_000, 9)
    with pytest.raises(DownloadError, match="changes on the server all the time"):
        download(plan, odd_folder, policy=quick)
    assert not (odd_folder / "model-2.safetensors").exists()


def test_a_folder_without_all_files_is_not_complete(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    plan = plan_of(hub)
    download(plan, odd_folder, policy=quick)
    os.truncate(odd_folder / "model-2.safetensors", 1000)
    assert not is_complete(odd_folder, plan)
    download(plan, odd_folder, policy=quick)
    assert whole(odd_folder, FILES)


def test_files_that_were_there_are_believed_only_after_a_look(
    hub: FakeHub, quick: DownloadPolicy, odd_folder: Path
) -> None:
    """A shard copied from elsewhere saves its download; a wrong one of the right size does not."""
    odd_folder.mkdir(parents=True)
    (odd_folder / "model-1.safetensors").write_bytes(FILES["model-1.safetensors"])
    (odd_folder / "model-2.safetensors").write_bytes(b"x" * len(FILES["model-2.safetensors"]))
    download(plan_of(hub), odd_folder, policy=quick)
    assert whole(odd_folder, FILES)
    assert hub.body_bytes("model-1") == 0
    assert hub.body_bytes("model-2") == len(FILES["model-2.safetensors"])


def test_a_model_of_many_files_keeps_few_of_them_open(
    quick: DownloadPolicy, odd_folder: Path
) -> None:
    resource = pytest.importorskip("resource")
    files = {f"m-{number:03}.safetensors": blob(10, number) for number in range(300)}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with FakeHub({"org/model": files}) as hub:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 250), hard))
        try:
            download(plan_of(hub), odd_folder, policy=quick)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert whole(odd_folder, files)
