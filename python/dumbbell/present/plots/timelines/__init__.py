"""Figures over time: each file draws one kind."""
