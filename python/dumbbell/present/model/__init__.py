"""What all drawings of results read: contents, tables, series, captions and requests for figures."""
