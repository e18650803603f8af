"""Published results compared with dumbbell's: `python -m validation.fidelity`."""
