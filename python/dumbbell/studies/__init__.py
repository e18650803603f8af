"""Studies: questions that many runs together answer. Each is independent, on the floors below."""
