"""Results to look into: an application for the browser, served from this machine or written as static files."""
