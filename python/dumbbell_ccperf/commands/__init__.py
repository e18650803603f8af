"""Commands of dumbbell_ccperf, one file per command."""
