"""The command that makes a run again."""

import shlex

from dumbbell.experiment import Experiment, Run


def run_command(run: Run, experiment: Experiment) -> str:
    """A seed follows from path and run number, so the last of `run.run` runs is this one again."""
    if not experiment.capabilities.executes:
        return ""
    chosen = "--mix" if run.scheme in experiment.mixes else "--schemes"
    words = ["dumbbell", "run", "experiment.toml", chosen, run.scheme, "--path", run.path, "--runs", str(run.run)]
    return f"{shlex.join(words)} --out NEW"
