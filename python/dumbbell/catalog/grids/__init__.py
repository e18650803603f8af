"""Grids: the quantities that an experiment varies, cell by cell, and the flows of each cell."""
