"""Stand-ins for the modules that the wrappers of a Pantheon checkout import. The wrappers run unchanged."""
