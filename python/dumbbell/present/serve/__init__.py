"""Explorer of results: an application for the browser, served from this machine or written as static files."""
