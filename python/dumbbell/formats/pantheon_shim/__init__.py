"""Runs the wrappers of a Pantheon checkout as they are: stands in for the modules that they import."""
