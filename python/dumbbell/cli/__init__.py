"""What each command does. `cli` parses, these act; each returns the exit status."""
