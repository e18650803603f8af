"""What holds for all tests: how examples are made, signals, and what is compiled once."""

import compileall
import os
import signal
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

import dumbbell as package

# How long an example takes says something about the machine's other work only.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples each time: a change fails for what it changed. `--hypothesis-profile=explore` draws others.
settings.register_profile("dumbbell", _ANY_MACHINE, derandomize=True)
settings.register_profile("explore", _ANY_MACHINE)
settings.load_profile("dumbbell")

# What a shell starts in the background ignores SIGINT, and what `nohup` starts SIGHUP: so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Compiles the package once, and lets JAX keep what it compiles: else each of many commands would do it again.

    What JAX compiles is not made fast: that would take longer than what the tests compute with it.
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
    """No test knows what this user, or another test, has agreed to run."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / f"state-{uuid.uuid4().hex}"))
