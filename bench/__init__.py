"""Measure how fast dumbbell is. docs/speed.md has the figures."""
