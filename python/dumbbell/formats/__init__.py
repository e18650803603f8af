"""Results of other tools in, results for other tools out."""
