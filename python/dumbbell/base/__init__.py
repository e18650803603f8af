"""The lowest room, which imports only `core` and `contract`: errors, names, files, processes, progress."""
