"""The commands, one file each. Its name is the command, and its first line is the description of the command."""
