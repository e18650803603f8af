"""Comparisons of dumbbell's measurements with published results, with real implementations and with real packets."""
