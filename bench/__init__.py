"""Measure how fast dumbbell is. docs/develop/speed.md has the figures."""
