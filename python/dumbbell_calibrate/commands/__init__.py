"""Commands of this package, one file for each."""
