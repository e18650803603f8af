"""Command that repeats a run."""

import shlex

from dumbbell.experiment import Experiment, Run


def run_command(run: Run, experiment: Experiment) -> str:
    """Return the command that repeats `run` as its last run; empty if the backend executes nothing.

    The seed of a run follows from its path and number, so the command makes `run.run` runs.
    """
    if not experiment.capabilities.executes:
        return ""
    option = "--mix" if run.scheme in experiment.mixes else "--schemes"
    words = ["dumbbell", "run", "experiment.toml", option, run.scheme, "--path", run.path, "--runs", str(run.run)]
    return f"{shlex.join(words)} --out NEW"
