"""Options of commands: their parser, and the values and one-line paths that people type."""
