"""Pages of reports in a real browser, with and without its script; without a browser the tests are skipped."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.waiting import TIMEOUT_S

_BROWSER = "chromium-headless-shell"


def play(page: str, script: str, folder: Path) -> Any:  # noqa: ANN401 (whatever it returns)
    """Return the result of a function body of JavaScript on the page, under the page's own policy."""
    if shutil.which(_BROWSER) is None:
        pytest.skip(f"no {_BROWSER} here")
    script = f"document.title = JSON.stringify((() => {{{script}}})());"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = page.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    page = page.replace("</body>", f"<script>{script}</script></body>")
    (folder / "played.html").write_text(page, encoding="utf-8")
    command = [_BROWSER, "--no-sandbox", "--disable-gpu", "--dump-dom", (folder / "played.html").as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    match = re.search("<title>(.*?)</title>", result.stdout, re.DOTALL)
    assert match, result.stderr
    return json.loads(html.unescape(match[1]))
