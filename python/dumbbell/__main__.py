"""`python -m dumbbell` is the `dumbbell` command."""

import sys

from dumbbell.cli.main import main

sys.exit(main())
