"""Compare what dumbbell measures with published results, with real implementations and with real packets."""
