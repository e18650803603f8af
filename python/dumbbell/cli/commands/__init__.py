"""The commands: each file is one, with the name of the file, and its first line says what it is for."""
