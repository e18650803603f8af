"""Options of commands: how they are parsed, and the values and one-line paths that people type."""
