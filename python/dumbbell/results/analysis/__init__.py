"""Analysis of results: means, comparisons, shares, and published numbers beside them."""
