"""`python -m dumbbell` is the `dumbbell` command."""

import sys

from dumbbell.cli import main

sys.exit(main())
