"""Data that all presentations of results share: contents, tables, series, captions and requests for figures."""
