"""Tests of runs between two machines, which are two network namespaces."""
