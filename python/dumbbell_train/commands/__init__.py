"""Commands of dumbbell_train, one file per command."""
