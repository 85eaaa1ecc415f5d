"""Model folders made to break us: each is refused clearly; none crashes, hangs or leads out."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from engine.container.reader import Container
from engine.errors import UnsupportedModelError
from tests.helpers.tiny_containers import make_tiny_container
from tests.hostile.conftest import refused, rewrite

# --- files -------------------------------------------------------------------------------------


def test_a_cut_record_file(folder):
    path = folder / "experts-00001.moex"
    os.truncate(path, path.stat().st_size - 1)
    refused(folder, r"experts-00001\.moex has \d+ bytes instead of")


def test_a_record_file_with_more_behind_it(folder):
    with open(folder / "experts-00001.moex", "ab") as file:
        file.write(b"x")
    refused(folder, "instead of")


@pytest.mark.parametrize("name", ["experts-00001.moex", "dense.safetensors", "tokenizer.json"])
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    refused(folder, f"{name} is missing")


def test_no_manifest(folder):
    (folder / "manifest.json").unlink()
    refused(folder, r"manifest\.json is missing")


def test_not_a_folder(folder):
    refused(folder / "manifest.json", "not a folder")
    refused(folder / "nothing", "not a folder")


@pytest.mark.parametrize("name", ["experts-00001.moex", "dense.safetensors", "manifest.json"])
def test_a_link_out_of_the_folder(folder, tmp_path, name):
    outside = tmp_path / "outside"
    shutil.move(folder / name, outside)
    try:
        os.symlink(outside, folder / name)
    except OSError:
        pytest.skip("links are not allowed here")
    refused(folder, "link")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in folders")
@pytest.mark.parametrize("name", ["dense.safetensors", "manifest.json"])
def test_a_pipe_does_not_hang(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused(folder, "not a regular file")


def test_a_folder_in_place_of_a_file(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").mkdir()
    refused(folder, "not a regular file")


def test_expert_files_of_another_model(folder, tmp_path):
    other = make_tiny_container(tmp_path / "other", num_hidden_layers=2, num_experts=4, seed=1)
    shutil.copy(other / "experts-00001.moex", folder)
    refused(folder, "does not belong to this model")


@pytest.mark.parametrize("offset", [0, 4, 8, 12, 16, 24, 32, 64, 4095])
def test_a_damaged_record_header(folder, offset):
    with open(folder / "experts-00001.moex", "r+b") as file:
        file.seek(offset)
        file.write(b"\x7f")
    refused(folder, "first bytes are damaged")


def test_a_damaged_safetensors_header(folder):
    with open(folder / "dense.safetensors", "r+b") as file:
        file.seek(100)
        file.write(b"!")
    refused(folder, "first bytes are damaged")


# --- manifest as text --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\x00" * 100,
        b'{"format": "edge0-container"',
        b"\xff" * 10,
        b'{"format": "edge0-container", "format": "edge0-container"}',
        b"[" * 200_000,
    ],
)
def test_a_manifest_that_is_none(folder, data):
    (folder / "manifest.json").write_bytes(data)
    refused(folder, r"manifest\.json")


def test_a_huge_manifest_is_not_read(folder):
    os.truncate(folder / "manifest.json", 10 << 30)  # sparse
    refused(folder, "far too large")


def test_a_newer_version_says_so(folder):
    rewrite(folder, lambda m: m.update(version=2, something_new=True))
    assert "Update" in refused(folder, "newer Edge0").next_step


@pytest.mark.parametrize("version", [0, -1, "1", None, 1.0, True])
def test_an_odd_version(folder, version):
    rewrite(folder, lambda m: m.update(version=version))
    refused(folder, "version")


def test_an_unknown_model_type(folder):
    rewrite(folder, lambda m: m["shape"].update(model_type="../../etc"))
    with pytest.raises(UnsupportedModelError):
        Container.open(folder)
