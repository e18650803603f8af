"""Built-in controllers with one slip each, to judge whatever claims to find a changed controller."""
