"""Commands of `dumbbell_calibrate`, one file for each."""
