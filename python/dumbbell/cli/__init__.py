"""The command line. `parser` reads it, and each module in `commands` runs a command and returns the exit status."""
