"""Strict type checks of users' programs: the examples beside this file, those of the docs, `examples/python`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.pages.blocks import PAGES, ROOT, blocks
from support.waiting import TIMEOUT_S

EXAMPLES = (Path(__file__).with_name("user_examples.py"), *sorted((ROOT / "examples" / "python").glob("*.py")))
WRONG = """\
import dumbbell

results = dumbbell.run(schemes="cubic", duration="5 s")
results.metrics.where("metric", 1.5)
results.run().figure("delay", colour="red")
dumbbell.Remote(senders="remote")
print(results.summery())
print(results.run().statistics["network"].get("goodput"), results.run().statistics["link"])
print({flow["flow"]: flow["goodput_mbit"] for flow in results.run().statistics["flows"]})
"""
MISTAKES = [3, 4, 5, 6, 7, 8, 9]
"""Lines of `WRONG` with a mistake."""

MYPY = ("mypy", "--strict", "--allow-redefinition", "--no-color-output", "--cache-dir", "cache")
"""Words of mypy. The blocks of a page are several programs, which use one name for different things."""
PYRIGHT = ("basedpyright", "--pythonpath", sys.executable)
SETTINGS = '[tool.basedpyright]\ntypeCheckingMode = "strict"\npythonVersion = "3.11"\n'

pytestmark = [
    pytest.mark.slow,  # they read all annotations of the package, and of what users have beside it
    pytest.mark.parametrize("checker", [MYPY, PYRIGHT], ids=["mypy", "pyright"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for programs outside of the source tree, where the tree's settings do not hold."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    return folder


def check_types(folder: Path, checker: tuple[str, ...], *files: str) -> tuple[int, str]:
    """Return the exit status of a type checker, and its output."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MYPYPATH", "PYTHONPATH")}
    command = [sys.executable, "-m", *checker, *files]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return result.returncode, result.stdout + result.stderr


def test_what_users_write_passes(checker: tuple[str, ...], folder: Path) -> None:
    texts = {file.name: file.read_text(encoding="utf-8") for file in EXAMPLES}
    for page in PAGES:
        shown_blocks = [
            block.text for block in blocks(page) if block.language == "python" and "not run" not in block.marks
        ]
        if any("import dumbbell" in text or "from dumbbell" in text for text in shown_blocks):
            texts[f"page_{page.stem}.py"] = "\n".join(shown_blocks)
    assert {"aimd.py", "page_gym.py", "page_guide.py", "page_library.py", "page_plugins.py"} < set(texts)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    status, output = check_types(folder, checker, *texts)
    assert status == 0, output


def test_mistakes_of_users_are_found(checker: tuple[str, ...], folder: Path) -> None:
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    status, output = check_types(folder, checker, "wrong.py")
    assert status == 1, output
    assert [line for line in range(1, 10) if f"wrong.py:{line}:" in output] == MISTAKES, output
