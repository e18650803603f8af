"""`python -m dumbbell.formats.pantheon_shim WRAPPER ARGUMENTS...`: the wrapper, under the Python that it needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

RUN_WRAPPER = Path(__file__).with_name("run_wrapper.py")
PYTHON_2 = ("python2.7", "python2")


def main() -> NoReturn:
    """Becomes the interpreter that runs the wrapper."""
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
    """Whether it is valid Python of this version."""
    try:
        compile(source, "wrapper", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def python_2() -> str | None:
    """A Python 2.7 that starts; version managers put commands of that name on PATH that do not."""
    for name in PYTHON_2:
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    return None


if __name__ == "__main__":
    main()
