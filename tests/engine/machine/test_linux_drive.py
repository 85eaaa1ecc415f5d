"""Finding the drive under a folder in /sys trees laid out as the kernel lays them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.machine.linux_drive import drive_info
from engine.machine.samples import DriveInfo


class FakeSys:
    """A /sys with block devices, and the mountinfo that uses them."""

    def __init__(self, root: Path) -> None:
        self.root = root / "sys"
        self.mounts = root / "mountinfo"
        self.mounts.write_text("", encoding="utf-8")
        (self.root / "dev/block").mkdir(parents=True)
        (self.root / "class/block").mkdir(parents=True)

    def device(self, number: str, path: str, **files: str) -> Path:
        folder = self.root / "devices" / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            file = folder / name.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n", encoding="utf-8")
        (self.root / "dev/block" / number).symlink_to(folder)
        (self.root / "class/block" / folder.name).symlink_to(folder)
        return folder

    def mount(self, point: str, number: str, filesystem: str, source: str = "none") -> None:
        with self.mounts.open("a", encoding="utf-8") as file:
            file.write(f"27 1 {number} / {point} rw,relatime shared:1 - {filesystem} {source} rw\n")

    def ask(self, folder: str) -> DriveInfo:
        return drive_info(Path(folder), self.mounts, self.root)


@pytest.fixture
def machine(tmp_path: Path) -> FakeSys:
    return FakeSys(tmp_path)


def test_nvme_partition_with_its_temperature(machine: FakeSys) -> None:
    disk = machine.device("259:0", "pci/nvme/nvme0/nvme0n1", removable="0", queue__rotational="0")
    machine.device("259:2", "pci/nvme/nvme0/nvme0n1/nvme0n1p2", partition="2")
    sensor = disk.parent / "hwmon3/temp1_input"
    sensor.parent.mkdir()
    sensor.write_text("48850\n", encoding="utf-8")
    machine.mount("/", "259:2", "ext4", "/dev/nvme0n1p2")
    assert machine.ask("/home/测试/models") == DriveInfo(
        "nvme", "ext4", "nvme0n1", temperature_c=48.85
    )


@pytest.mark.parametrize(("rotational", "kind"), [("0", "sata_ssd"), ("1", "hdd"), ("", "unknown")])
def test_sata_by_rotation(machine: FakeSys, rotational: str, kind: str) -> None:
    machine.device("8:0", "pci/ata1/block/sda", queue__rotational=rotational)
    machine.mount("/", "8:0", "ext4")
    assert machine.ask("/models").kind == kind


def test_encrypted_lvm_is_followed_to_the_disk(machine: FakeSys) -> None:
    machine.device("259:0", "pci/nvme/nvme0/nvme0n1")
    machine.device("259:3", "pci/nvme/nvme0/nvme0n1/nvme0n1p3", partition="3")
    for number, name, below in (
        ("253:0", "dm-0", "pci/nvme/nvme0/nvme0n1/nvme0n1p3"),
        ("253:1", "dm-1", "virtual/block/dm-0"),
    ):
        folder = machine.device(number, f"virtual/block/{name}")
        (folder / "slaves").mkdir()
        (folder / "slaves" / Path(below).name).symlink_to(machine.root / "devices" / below)
    machine.mount("/", "253:1", "xfs", "/dev/mapper/root")
    found = machine.ask("/models")
    assert (found.kind, found.device) == ("nvme", "nvme0n1")


def test_raid_is_as_slow_as_its_slowest_disk(machine: FakeSys) -> None:
    machine.device("259:0", "pci/nvme/nvme0/nvme0n1")
    machine.device("8:0", "pci/ata1/block/sda", queue__rotational="1")
    raid = machine.device("9:0", "virtual/block/md0")
    (raid / "slaves").mkdir()
    (raid / "slaves/nvme0n1").symlink_to(machine.root / "devices/pci/nvme/nvme0/nvme0n1")
    (raid / "slaves/sda").symlink_to(machine.root / "devices/pci/ata1/block/sda")
    machine.mount("/", "9:0", "ext4")
    assert machine.ask("/").kind == "hdd"


def test_btrfs_invents_a_number_so_the_source_is_asked(machine: FakeSys, tmp_path: Path) -> None:
    machine.device("8:16", "pci/ata2/block/sdb", queue__rotational="0")
    machine.mount("/", "0:31", "btrfs", "/dev/sdb")
    assert machine.ask("/home").kind == "sata_ssd"


def test_usb_and_virtual_disks(machine: FakeSys) -> None:
    machine.device("8:32", "pci/usb2/2-1/block/sdc", queue__rotational="0", removable="0")
    machine.device("254:0", "pci/virtio1/block/vda", queue__rotational="1")
    machine.device("8:48", "pci/ata3/block/sdd", queue__rotational="1", device__vendor="QEMU")
    machine.mount("/", "254:0", "ext4")
    machine.mount("/media/stick", "8:32", "exfat")
    machine.mount("/vm", "8:48", "ext4")
    assert machine.ask("/media/stick/models") == DriveInfo("usb", "exfat", "sdc", removable=True)
    assert machine.ask("/home").kind == "virtual"
    assert machine.ask("/vm").kind == "virtual"


def test_network_memory_and_unknown_file_systems(machine: FakeSys) -> None:
    machine.mount("/", "0:25", "overlay", "overlay")
    machine.mount("/nas", "0:50", "cifs", "//nas/share")
    machine.mount("/tmp", "0:51", "tmpfs", "tmpfs")
    machine.mount("/mnt/c", "0:52", "9p", "C:\\134")
    assert machine.ask("/nas/models").kind == "network"
    assert machine.ask("/tmp/x").filesystem == "tmpfs"
    assert machine.ask("/mnt/c/models").kind == "unknown"
    assert machine.ask("/home").kind == "unknown"


def test_the_deepest_mount_wins_and_a_later_one_covers(machine: FakeSys) -> None:
    machine.device("8:0", "pci/ata1/block/sda", queue__rotational="1")
    machine.device("259:0", "pci/nvme/nvme0/nvme0n1")
    machine.mount("/data", "8:0", "ext4")
    machine.mount(r"/data/my\040models", "8:0", "ext4")
    machine.mount(r"/data/my\040models", "259:0", "ext4")
    machine.mount("/", "8:0", "ext4")
    assert machine.ask("/data/my models/qwen").kind == "nvme"
    assert machine.ask("/data/my modelsX").kind == "hdd"
