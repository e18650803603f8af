"""Rights and features of this machine for real packets."""

import os
import subprocess

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.base.starting import PYTHON
from dumbbell.contract.controllers import EmulationCheck
from dumbbell.core.codec import decoded
from dumbbell.core.runs import check_emulation

_CHECK_IN_USER_NAMESPACE = (
    "import json; from dumbbell import core; from dumbbell.core.runs import check_emulation; "
    "core.enter_user_namespace(); print(json.dumps(check_emulation()), flush=True)"
)


def checks() -> list[EmulationCheck]:
    """Return the requirements of emulation, each with `name`, `good`, `found` and `fix`.

    Without root, runs are emulated in a user namespace. So the check runs in a user namespace, too, in a separate
    process, because a process cannot leave the namespace.
    """
    if not hasattr(core, "enter_user_namespace"):  # the first step of `make report`
        return [{"name": "this build", "good": False, "found": "simulates only", "fix": "make build"}]
    if os.geteuid() == 0:
        return check_emulation()
    command = [*PYTHON, "-c", _CHECK_IN_USER_NAMESPACE]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode == 0:
        return decoded(process.stdout, list[EmulationCheck])
    last_line = (process.stderr.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
    problem, _, fix = last_line.partition("Error: ")[2].rpartition(": ")
    return [{"name": "user namespace", "good": False, "found": problem or last_line, "fix": fix or "run as root"}]


def gain_rights() -> None:
    """Give this process the right to make network namespaces. Unless it is root's, it enters a user namespace forever.

    The process must have one thread only.

    Raises:
        dumbbell.core.Error: If the machine refuses; the message has the reason.
    """
    if os.geteuid() != 0:
        core.enter_user_namespace()


def require_emulation() -> None:
    """Raise an error if a requirement of emulation is missing.

    Raises:
        UserError: If a requirement is missing; the message has its fix.
    """
    for check in checks():
        if not check["good"]:
            fix = f": {check['fix']}" if check["fix"] else ""
            raise UserError(f"cannot emulate here: {check['name']}: {check['found']}{fix}")
