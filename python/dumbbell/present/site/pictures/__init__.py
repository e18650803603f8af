"""The figures of the pages of a benchmark."""
