"""Mutated controllers: a check of their list, or a repository that contains them.

Usage: python -m validation.mutations --check | --make FOLDER [--only cubic-07,second].

--make copies the tracked files of this repository to FOLDER, adds each mutated controller to the crate `congestion`
there, and its scheme to FOLDER/mutants. After a build in FOLDER, `dumbbell run --schemes FOLDER/mutants/cubic-07.toml`
of that build runs one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import dumbbell
from dumbbell.base.errors import one_line
from validation.mutations.mutants import make
from validation.mutations.mutation import Mutation, load, select


def summary(mutations: Sequence[Mutation]) -> str:
    """Return the numbers of mutations by kind and by controller."""
    kinds, schemes = (
        ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items()))
        for names in ([mutation.kind for mutation in mutations], [mutation.scheme for mutation in mutations])
    )
    return f"{len(mutations)} mutations\n{schemes}\n{kinds}"


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; an error is one line."""
    parser = argparse.ArgumentParser(
        prog="mutations", description=__doc__.splitlines()[0] if __doc__ else None, allow_abbrev=False
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="check that every mutation fits the sources")
    action.add_argument("--make", type=Path, metavar="FOLDER", help="write a repository with the mutated controllers")
    parser.add_argument("--only", metavar="ID|SET[,...]", help="only these mutations [default: all]")
    options = parser.parse_args(words)
    try:
        mutations_chosen = select(load(), options.only)
        if options.make:
            make(mutations_chosen, options.make)
    except dumbbell.Error as error:
        print(f"mutations: {one_line(error)}", file=sys.stderr)
        sys.exit(2)
    print(summary(mutations_chosen))


if __name__ == "__main__":
    main()
