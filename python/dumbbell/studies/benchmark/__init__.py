"""Standard benchmark: its experiments, their runs, and its results."""
