"""The databases of results, in ccperf's terms."""
