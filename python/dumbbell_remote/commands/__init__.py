"""Commands of `dumbbell_remote`, one file for each."""
