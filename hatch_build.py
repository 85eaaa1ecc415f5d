"""Build hook of hatchling: compiles the kernels and gives the wheel the platform's tag.

EDGE0_WHEEL_TARGET (such as x86_64-windows-gnu) makes a wheel for another system than this one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _load_builder(root: Path) -> ModuleType:
    """engine/kernels/build.py by path: importing `engine` would need its dependencies here."""
    spec = importlib.util.spec_from_file_location(
        "edge0_kernels_build", root / "engine" / "kernels" / "build.py"
    )
    if spec is None or spec.loader is None:
        raise ImportError("engine/kernels/build.py is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


class KernelBuildHook(BuildHookInterface[Any]):
    """Puts the compiled library into engine/kernels/lib and into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; an editable install uses the library where it lies, a wheel carries it."""
        if self.target_name != "wheel":
            return
        builder = _load_builder(Path(self.root))
        wanted = os.environ.get("EDGE0_WHEEL_TARGET")
        target = builder.parse_target(wanted) if wanted else builder.host_target()
        library = builder.build(target)
        if version == "standard":
            build_data["pure_python"] = False
            build_data["tag"] = target.wheel_tag
            build_data["force_include"][str(library)] = f"engine/kernels/lib/{library.name}"
