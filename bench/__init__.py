"""Measurements of dumbbell's speed; docs/develop/speed.md has the figures."""
