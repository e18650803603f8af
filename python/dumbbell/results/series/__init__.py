"""Time series and tables of single runs, read from their files."""
