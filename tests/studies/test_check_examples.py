"""Test of the stack's CUBIC of `docs/how-to/check.md`: its slip is caught."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.commands.command import Dumbbell

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow  # it compiles four crates
def test_a_stacks_cubic_with_a_wrong_beta_is_caught(dumbbell: Dumbbell, folder: Path) -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "stack-cubic"
    example = ROOT / "examples/stack-cubic"
    library = folder / "target/debug/libstack_cubic.so"
    library.parent.mkdir(parents=True)
    shutil.copy(example / "stack-cubic.toml", folder)
    cells = ["--cells", "long,start,lossy"]
    for features, more, status in (([], ["--update"], 0), (["--features", "wrong-beta"], ["--json"], 1)):
        subprocess.run(
            ["cargo", "build", "--locked", "--quiet", "--manifest-path", str(example / "Cargo.toml"), *features],
            env=os.environ | {"CARGO_TARGET_DIR": str(target)},
            check=True,
        )
        shutil.copy(target / "debug/libstack_cubic.so", library)
        result = dumbbell("check", "stack-cubic.toml", *cells, *more, expect=status)
    cells_found = {cell["cell"]: cell for cell in json.loads(result.stdout)["cells"]}
    assert cells_found["start"]["identical"]
    loss = next(row for row in cells_found["long"]["quantities"] if row["quantity"] == "loss")
    assert loss["verdict"] == "worse"
    cwnd = next(field for field in cells_found["lossy"]["first_difference"]["state"] if field["field"] == "cwnd")
    assert cwnd["candidate"] / cwnd["baseline"] == pytest.approx(0.8 / 0.7, rel=0.02)
