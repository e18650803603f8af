"""Mutations: likely mistakes of an implementer, each a change of one place of a controller's source.

Each file `SET/SCHEME.toml` beside this one lists the mutations of one controller. The suite of `dumbbell check` was
extended after the mutations of the set `first`; those of `second` were written later, by somebody who did not know it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.toml_tables import TomlTable, read_toml

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
SCHEMES = Path("crates", "congestion", "src", "schemes")
"""Directory of the controllers' sources, below the root of a repository."""
KINDS = ("constant", "missing branch", "off by one", "wrong order/sign/unit", "stale state")
MAX_LINES = 6
"""Maximum lines of the text that a mutation replaces: a slip, no other algorithm."""


@dataclass(frozen=True)
class Mutation:
    """A change of one place of a controller's source.

    Attributes:
        id: Scheme and number, `cubic-07`: also the name of the mutated controller.
        scheme: Name of the scheme, and of its controller.
        kind: One of `KINDS`.
        file: The changed file, below `SCHEMES`.
        old: The text that is replaced.
        new: The text in its place.
        says: What the implementer did wrong, in one sentence.
        set: Directory of the list: `first` or `second`.
    """

    id: str
    scheme: str
    kind: str
    file: str
    old: str
    new: str
    says: str
    set: str

    @property
    def module(self) -> str:
        """Return the name of the mutated controller's Rust module."""
        return "m_" + self.id.replace("-", "_")

    @property
    def source(self) -> Path:
        """Return the file or directory of the controller, below `SCHEMES`."""
        return Path(Path(self.file).parts[0])

    def applied(self, text: str, place: Path) -> str:
        """Return `text`, the content of the file `place`, with the mutation in it.

        Raises:
            UserError: The replaced text does not occur exactly once.
        """
        count = text.count(self.old)
        if count != 1:
            raise UserError(f"{place}: `old` of {self.id} occurs {count} times: expected 1")
        return text.replace(self.old, self.new)


def load(folder: Path = FOLDER, root: Path = ROOT) -> list[Mutation]:
    """Return the mutations of all sets in `folder`; each fits the sources of the repository `root`.

    Raises:
        UserError: A file is unreadable, a value is not allowed, two mutations share an id, or one does not fit.
    """
    mutations = [mutation for file in sorted(folder.glob("*/*.toml")) for mutation in _read(file)]
    counts = Counter(mutation.id for mutation in mutations)
    for mutation in mutations:
        if counts[mutation.id] > 1:
            raise UserError(f"{folder}: two mutations have the id `{mutation.id}`: expected unique ids")
        place = root / SCHEMES / mutation.file
        try:
            text = place.read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"{place}: {error.strerror}: `file` of {mutation.id}") from None
        mutation.applied(text, place)
    return mutations


def select(mutations: Sequence[Mutation], names: str | None) -> list[Mutation]:
    """Return the mutations of the list `names`, of ids and sets; all without a list.

    Raises:
        UserError: No mutation and no set has one of the names.
    """
    if names is None:
        return list(mutations)
    mutations_of = {mutation.id: [mutation] for mutation in mutations}
    for name in dict.fromkeys(mutation.set for mutation in mutations):
        mutations_of[name] = [mutation for mutation in mutations if mutation.set == name]
    fromkeys = dict.fromkeys(names.split(","))
    for name in fromkeys:
        if name not in mutations_of:
            raise UserError(
                f"--only: no mutation `{name}`{nearest(name, mutations_of)}: expected {listed(mutations_of)}"
            )
    return list(dict.fromkeys(mutation for name in fromkeys for mutation in mutations_of[name]))


def _read(file: Path) -> list[Mutation]:
    top = read_toml(file)
    tables = top.tables("mutation", named_by="id")
    top.finish()
    return [_mutation(table, file.stem) for table in tables]


def _mutation(table: TomlTable, scheme: str) -> Mutation:
    mutation = Mutation(
        id=table.text("id"),
        scheme=scheme,
        kind=table.text("kind", choices=KINDS),
        file=table.text("file"),
        old=table.text("old"),
        new=table.text("new"),
        says=table.text("says"),
        set=Path(table.source).parent.name,
    )
    table.finish()
    if not re.fullmatch(rf"{re.escape(scheme)}-\d\d", mutation.id):
        raise table.fail("id", mutation.id, f"{scheme}- and two digits, such as {scheme}-07")
    if not mutation.old.strip() or mutation.old.count("\n") >= MAX_LINES:
        raise table.fail("old", mutation.old, f"a text of 1 to {MAX_LINES} lines")
    if mutation.new == mutation.old:
        raise table.fail("new", mutation.new, "a text that differs from `old`")
    if not mutation.says.endswith("."):
        raise table.fail("says", mutation.says, "a sentence")
    return mutation
