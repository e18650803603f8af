"""This machine: what it is, what it had to do, what real packets need of it, and controllers in its kernel."""
