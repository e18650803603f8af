"""Commands of `dumbbell_reproduce`, one file for each."""
