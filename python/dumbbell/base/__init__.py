"""What every other floor stands on, and what knows none of them: errors, names, files, processes, progress."""
