"""What this machine permits for real packets."""

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
    """What emulation needs, each with `name`, `good`, `found` and `fix`.

    Without root, runs are emulated in a user namespace, so the looking is done in one too: by a process of its own,
    because there is no way back out of it.
    """
    if not hasattr(core, "enter_user_namespace"):  # the first step of `make report`
        return [{"name": "this build", "good": False, "found": "simulates only", "fix": "make build"}]
    if os.geteuid() == 0:
        return check_emulation()
    command = [*PYTHON, "-c", _CHECK_IN_USER_NAMESPACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return decoded(done.stdout, list[EmulationCheck])
    said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    found, _, fix = said.partition("Error: ")[2].rpartition(": ")
    return [{"name": "user namespace", "good": False, "found": found or said, "fix": fix or "run as root"}]


def gain_rights() -> None:
    """Give this process the right to make network namespaces: unless it is root's, it enters a user namespace for good.

    It must not have a second thread yet.

    Raises:
        dumbbell.core.Error: the machine refuses, with the reason.
    """
    if os.geteuid() != 0:
        core.enter_user_namespace()


def require_emulation() -> None:
    """Refuses to emulate where something for it is missing.

    Raises:
        UserError: names what is missing and its fix.
    """
    for check in checks():
        if not check["good"]:
            fix = f": {check['fix']}" if check["fix"] else ""
            raise UserError(f"cannot emulate here: {check['name']}: {check['found']}{fix}")
