"""The standard benchmark: its experiments, their runs, and what these give."""
