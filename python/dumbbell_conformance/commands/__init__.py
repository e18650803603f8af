"""Commands of `dumbbell_conformance`, one file for each."""
