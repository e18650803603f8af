"""Tests of the mutated controllers: each slip fits the sources, and a built repository also has the original."""

import difflib
import shutil
from pathlib import Path

import pytest

from dumbbell.base.errors import UserError
from dumbbell.catalog.toml_tables import read_toml
from validation.mutations.__main__ import main
from validation.mutations.mutants import CATALOG, MUTANTS, make
from validation.mutations.mutation import FOLDER, KINDS, ROOT, SCHEMES, Mutation, load, select

COUNTS = {
    **{"reno": 12, "cubic": 24, "bbr": 16, "bbr3": 20, "vegas": 8},
    **{"copa": 8, "ledbat-plus-plus": 6, "prague": 3, "dctcp": 3},
}


def listing(folder: Path, **changes: str) -> Path:
    """Write a list with one mutation of Reno, with some of its values changed."""
    values = {
        **{"id": "reno-01", "kind": "constant", "file": "reno.rs", "old": "MIN_WINDOW: f64 = 2.0"},
        **{"new": "MIN_WINDOW: f64 = 3.0", "says": "Too large."},
        **changes,
    }
    text = "\n".join(["[[mutation]]", *(f"{key} = {value!r}" for key, value in values.items())])
    (folder / "first").mkdir(exist_ok=True)
    (folder / "first/reno.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_list_fits_the_sources_and_has_a_hundred_mutations(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--check", "--only", "first"])
    assert capsys.readouterr().out.startswith("100 mutations\n")
    mutations = select(load(), "first")
    assert {name: sum(mutation.scheme == name for mutation in mutations) for name in COUNTS} == COUNTS
    assert sum(COUNTS.values()) == len(mutations) == len({mutation.id for mutation in mutations}) == 100
    assert {mutation.kind for mutation in mutations} == set(KINDS)


def test_no_two_mutations_of_a_set_make_the_same_change() -> None:
    # Mutations of different sets may be equal: the author of the second set had not seen the first.
    changes = [
        (mutation.set, mutation.file, mutation.applied(source(mutation), Path(mutation.file))) for mutation in load()
    ]
    assert len(set(changes)) == len(changes)


def source(mutation: Mutation) -> str:
    """Return the text that a mutation changes."""
    return (ROOT / SCHEMES / mutation.file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"old": "no such text"}, "`old` of reno-01 occurs 0 times: expected 1"),
        ({"old": "self.window.packets"}, "times: expected 1"),
        ({"file": "no.rs"}, "`file` of reno-01"),
        ({"kind": "typo"}, '`mutation[reno-01].kind` = "typo": allowed is one of'),
        ({"id": "cubic-01"}, '`mutation[cubic-01].id` = "cubic-01": allowed is reno- and two digits'),
        ({"new": "MIN_WINDOW: f64 = 2.0"}, "allowed is a text that differs from `old`"),
        ({"says": "no sentence"}, "allowed is a sentence"),
        ({"size": "big"}, "unknown key `mutation[reno-01].size`"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path: Path, changes: dict[str, str], line: str) -> None:
    assert [mutation.id for mutation in load(listing(tmp_path))] == ["reno-01"]
    with pytest.raises(UserError) as error:
        load(listing(tmp_path, **changes))
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_an_id_stands_once(tmp_path: Path) -> None:
    shutil.copytree(listing(tmp_path) / "first", tmp_path / "second")
    with pytest.raises(UserError, match="two mutations have the id `reno-01`"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["reno-03", "cubic-07"])  # a controller in a file, one in a directory
def test_a_repository_has_the_mutant_beside_the_original(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "made"
    main(["--make", str(folder), "--only", name])
    (mutation,) = select(load(), name)
    schemes = folder / SCHEMES
    module = mutation.module + mutation.file.removeprefix(str(mutation.source.with_suffix("")))
    before, after = (text.read_text(encoding="utf-8") for text in (schemes / mutation.file, schemes / module))
    assert before == source(mutation)
    lines = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    changed_lines = {line[2:].strip() for line in lines if line[0] == "+"}
    assert changed_lines == {f'name: "{name}",', mutation.new.strip()}
    assert len([line for line in lines if line[0] == "-"]) == 2
    made_names = {place.name for place in schemes.iterdir()} - {place.name for place in (ROOT / SCHEMES).iterdir()}
    assert made_names == {Path(module).parts[0]}
    scheme = read_toml(folder / MUTANTS / f"{name}.toml").raw
    original = read_toml(ROOT / CATALOG / f"{mutation.scheme}.toml").raw
    original.pop("aliases", None)
    assert scheme == {**original, "name": name, "controller": name}
    assert (folder / "Cargo.toml").read_bytes() == (ROOT / "Cargo.toml").read_bytes()
    assert not (folder / ".git").exists()


def test_a_directory_with_files_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(SystemExit, match="2"):
        main(["--make", str(tmp_path), "--only", "reno-03"])
    assert (
        capsys.readouterr().err.strip() == f"mutations: --make {tmp_path}: exists: expected a new or an empty directory"
    )
    assert [place.name for place in tmp_path.iterdir()] == ["mine"]


def test_nothing_is_made_of_what_is_no_repository(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", tmp_path / "made"
    root.mkdir()
    with pytest.raises(UserError, match="not a git repository"):
        make(load(FOLDER), folder, root)
    assert [place.name for place in tmp_path.iterdir()] == ["root"]


def test_an_unknown_mutation_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--check", "--only", "cubic-7"])
    assert capsys.readouterr().err.startswith("mutations: --only: no mutation `cubic-7`")
