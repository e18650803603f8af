"""Studies: what many runs together answer. Each stands alone, on the floors below."""
