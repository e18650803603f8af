"""Modules of the front end without a browser: bundled by esbuild, run by Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).parents[2] / "web"
ESBUILD = WEB / "node_modules/.bin/esbuild"


def evaluated(script: str, given: object = None) -> Any:  # noqa: ANN401 (what the script returns)
    """Return what a script of TypeScript returns; it imports from `src/`, and has `given`."""
    if not ESBUILD.exists() or shutil.which("node") is None:
        pytest.skip("no Node here, or `make web` has not installed its packages")
    imports = "\n".join(line for line in script.splitlines() if line.startswith("import "))
    body = "\n".join(line for line in script.splitlines() if not line.startswith("import "))
    whole = f"{imports}\nconst given: any = {json.dumps(given)};\nconst made = (() => {{\n{body}\n}})();\n"
    whole += "console.log(JSON.stringify(made));\n"
    command = [str(ESBUILD), "--bundle", "--format=esm", "--loader=ts", "--log-level=error"]
    bundle = subprocess.run(command, input=whole, cwd=WEB, capture_output=True, text=True, check=True, timeout=60)
    node = ["node", "--input-type=module"]
    done = subprocess.run(node, input=bundle.stdout, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)
