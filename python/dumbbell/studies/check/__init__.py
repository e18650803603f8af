"""Comparison of a candidate with a baseline by paired runs over common draws, as many as it takes."""
