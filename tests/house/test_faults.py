"""The list of seeded faults stays usable: each fault can be put into the code of today."""

import ast
from pathlib import Path

import pytest

from support.faults import Fault, read_faults

ROOT = Path(__file__).parents[2]
FAULTS = read_faults()


def test_there_are_forty_faults_with_names_of_their_own() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_applies(fault: Fault) -> None:
    content = (ROOT / fault.file).read_text(encoding="utf-8")
    assert content.count(fault.before) == 1, f"{fault.file}: expected once: {fault.before}"
    assert fault.after != fault.before
    if fault.file.endswith(".py"):
        ast.parse(content.replace(fault.before, fault.after))
