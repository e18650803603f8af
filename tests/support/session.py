"""Settings of all tests: examples of hypothesis, signals, and caches of compiled code."""

import compileall
import os
import signal
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

import dumbbell as package

# The duration of an example only tells how busy the machine is.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The examples are the same each time: a change fails only for what it changed. `--hypothesis-profile=explore` draws
# others.
settings.register_profile("dumbbell", _ANY_MACHINE, derandomize=True)
settings.register_profile("explore", _ANY_MACHINE)
settings.load_profile("dumbbell")

# Commands that a shell starts in the background ignore SIGINT, and those of `nohup` SIGHUP. Commands of tests would
# inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Compile the package once, and let JAX keep its compiled code: else each of many commands would compile again.

    JAX does not optimise: that would take longer than the computations of the tests.
    """
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(package.__file__).parent, quiet=2)
        cache_folder = TemporaryDirectory(prefix="dumbbell-jax-")
        config.add_cleanup(cache_folder.cleanup)
        os.environ |= {
            "JAX_COMPILATION_CACHE_DIR": cache_folder.name,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
        views = TemporaryDirectory(prefix="dumbbell-cache-")
        config.add_cleanup(views.cleanup)
        os.environ["DUMBBELL_CACHE"] = views.name


@pytest.fixture(autouse=True)
def trusts_nothing(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide from a test what this user, or another test, has agreed to run."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / f"state-{uuid.uuid4().hex}"))
