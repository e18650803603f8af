# Subprocess calls that say on stderr what they run. Valid Python 2.7 and 3.
# mypy: ignore-errors
import subprocess
import sys

PIPE = subprocess.PIPE
CalledProcessError = subprocess.CalledProcessError


def _announce(function):
    def call_and_tell(command, *arguments, **options):
        text = command if isinstance(command, str) else " ".join(str(word) for word in command)
        sys.stderr.write("$ " + text + "\n")
        sys.stderr.flush()
        return function(command, *arguments, **options)

    return call_and_tell


def _text_output(command, *arguments, **options):
    """Return the output as text in both versions of Python: wrappers split and compare it."""
    options.setdefault("universal_newlines", True)
    return subprocess.check_output(command, *arguments, **options)


call = _announce(subprocess.call)
check_call = _announce(subprocess.check_call)
check_output = _announce(_text_output)
Popen = _announce(subprocess.Popen)
