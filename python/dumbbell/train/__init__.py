"""Training: learned controllers are made here, and what makes them is known by name (`kinds.py`)."""
