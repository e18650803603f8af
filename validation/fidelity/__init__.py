"""Published results beside ours: `python -m validation.fidelity`."""
