"""Options of commands: how they are parsed, and the values, quantities and one-line paths that people type."""
