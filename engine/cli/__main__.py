"""`python -m engine.cli` is `edge0`."""

import sys

from engine.cli import main

sys.exit(main())
