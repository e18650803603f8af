"""Sentences of a report: metrics, paths, networks and machines in words."""
