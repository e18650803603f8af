"""Runs between two machines, and what they stand on; two network namespaces are the machines."""
