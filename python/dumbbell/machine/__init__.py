"""What real packets need of this machine: its permissions, and controllers in its kernel."""
