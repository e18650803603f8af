"""Whether a candidate does as well as a baseline: paired runs over common draws, as many as it takes."""
