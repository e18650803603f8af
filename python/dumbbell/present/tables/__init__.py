"""A table is made once, as fields; a module here writes it for each place: terminal, HTML, Markdown, typst, LaTeX."""

from dumbbell.present.tables.table import Field, Table

__all__ = ["Field", "Table"]
