"""Files with holes, the same on every system. Any thread; holds nothing.

A download writes several places of a file at once. Without holes, NTFS would first fill everything
before each place with zeros.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["make_sparse"]

if sys.platform == "win32":
    from engine.machine.windows_sparse import make_sparse
else:

    def make_sparse(path: Path) -> None:
        """Let a file have holes; here every file may."""
