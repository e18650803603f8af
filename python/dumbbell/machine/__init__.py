"""This machine: its description, its load, its rights for real packets, and controllers in its kernel."""
