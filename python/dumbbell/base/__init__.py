"""The lowest floor, which imports no other: errors, names, files, processes, progress."""
