"""Tables as fields; each module writes them for one place: terminal, HTML, Markdown, typst, LaTeX."""

from dumbbell.present.tables.table import Field, Table

__all__ = ["Field", "Table"]
