"""What this machine permits for real packets."""

import json
import os
import subprocess

from dumbbell import _core
from dumbbell.base.errors import UserError
from dumbbell.base.starting import PYTHON

_CHECK_IN_USER_NAMESPACE = (
    "from dumbbell import _core; _core.enter_user_namespace(); print(_core.check_emulation(), flush=True)"
)


def checks() -> list[dict[str, object]]:
    """What emulation needs, each with `name`, `good`, `found` and `fix`.

    Without root, runs are emulated in a user namespace, so the looking is done in one too: by a process of its own,
    because there is no way back out of it.
    """
    if not hasattr(_core, "check_emulation"):  # the first step of `make report`
        return [{"name": "this build", "good": False, "found": "simulates only", "fix": "make build"}]
    if os.geteuid() == 0:
        return _read(_core.check_emulation())
    command = [*PYTHON, "-c", _CHECK_IN_USER_NAMESPACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return _read(done.stdout)
    said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    found, _, fix = said.partition("Error: ")[2].rpartition(": ")
    return [{"name": "user namespace", "good": False, "found": found or said, "fix": fix or "run as root"}]


def _read(report: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(report)
    return found


def require_emulation() -> None:
    """Refuses to emulate where something for it is missing.

    Raises:
        UserError: names what is missing and its fix.
    """
    for check in checks():
        if not check["good"]:
            fix = f": {check['fix']}" if check["fix"] else ""
            raise UserError(f"cannot emulate here: {check['name']}: {check['found']}{fix}")
