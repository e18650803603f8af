"""Built-in controllers with one slip each, to test the detection of regressions."""
