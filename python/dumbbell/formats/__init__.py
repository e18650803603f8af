"""Import of the results of other tools, and export of results for other tools."""
