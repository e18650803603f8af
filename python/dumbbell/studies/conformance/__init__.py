"""Numbered conformance cases: run, measured, and judged by the tolerances in the catalog's files."""
