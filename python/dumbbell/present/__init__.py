"""Presentation of results: figures, reports and pages."""
