"""`python -m dumbbell.formats.pantheon_shim WRAPPER ARGUMENTS...`: run a wrapper under the Python that it needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

RUN_WRAPPER = Path(__file__).with_name("run_wrapper.py")
PYTHON_2 = ("python2.7", "python2")


def main() -> NoReturn:
    """Replace this process by the interpreter that runs the wrapper."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m dumbbell.formats.pantheon_shim WRAPPER ARGUMENTS...")
    wrapper = Path(sys.argv[1])
    try:
        source = wrapper.read_bytes()
    except OSError as error:
        sys.exit(f"{wrapper}: {error.strerror}")
    interpreter = sys.executable if compiles(source) else python_2()
    if interpreter is None:
        sys.exit(f"{wrapper}: is not valid Python 3, and no Python 2.7 is found: install python2.7")
    os.execv(interpreter, [interpreter, "-u", str(RUN_WRAPPER), str(wrapper.absolute()), *sys.argv[2:]])


def compiles(source: bytes) -> bool:
    """Return True if `source` is valid Python of this version."""
    try:
        compile(source, "wrapper", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def python_2() -> str | None:
    """Return a Python 2.7 that starts. Version managers put commands of this name on PATH that do not start."""
    for name in PYTHON_2:
        program = shutil.which(name)
        if program and subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0:
            return program
    return None


if __name__ == "__main__":
    main()
