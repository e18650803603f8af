"""Test that no files of a crate, and no files of the pages, name each other in a circle.

An arrow leads from a file to the file that defines a name which the first one takes: by `use`, or by a path in its
code. A declaration `mod child;` is no arrow. A re-export (`pub use child::Name`) is none either, unless the file uses
the name itself; whoever takes the name through the re-export points at the file that defines the name. A file that
continues the `impl` of a type of the file above it (`bbr3/losses.rs` of `bbr3/mod.rs`) is a part of that file, and does
not point at it. Unit tests do not count. What a macro makes of its arguments is not seen.

Python needs no test here: import-linter's contract "No circles, at any depth" (`acyclic_siblings` of `dumbbell.**`,
pyproject.toml) compares the children of each package. Two modules that import each other break the contract at the
nearest package which contains both. Only a module and the `__init__.py` above it are not compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACES = {"mod.rs", "lib.rs", "main.rs"}
"""Files whose module has the name of their folder."""
CRATES = sorted(manifest.parent for manifest in (ROOT / "crates").glob("*/Cargo.toml"))

Names = tuple[str, ...]
"""A path in Rust from the root of its crate: modules, and possibly names in the last of them."""
Arrows = dict[Path, dict[Path, set[str]]]
"""For each file the files that it points at, and the names that it takes from each."""

NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bb?r(#*)".*?"\1|\bb?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"|' r"'(?:\\[^\n]*?|[^\\'\n])'",
    re.DOTALL,
)
UNIT_TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*")
USE = re.compile(r"\b(pub(?:\s*\([^)]*\))?\s+)?use\s+([^;]+);")
MODULE = re.compile(r"\bmod\s+(\w+)\s*(?=\{)")
ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(\w+)")
CONTINUED = re.compile(r"\bimpl(?:<[^>]*>)?\s+(\w+)(?:<[^>]*>)?\s*\{")
PATH = re.compile(r"(?<![\w:.$])(?:::)?\$?\w+(?:\s*::\s*\w+)+")


@dataclass
class Import:
    """One name of a `use`."""

    name: str
    """Name that the module uses; `*` for all names of the path."""
    path: Names
    """Path as written."""
    is_public: bool


@dataclass
class Module:
    """A module of a crate: a file, or a part of one."""

    file: Path
    code: str
    """Without comments, strings, unit tests, `use` and modules inside."""
    imports: list[Import]
    items: set[str]
    """Names that the module defines."""


def end_of(code: str, start: int) -> int:
    """Return the end of the item that begins at `start`: behind its `;`, or behind its block."""
    depth = 0
    for place in range(start, len(code)):
        if code[place] in "{([":
            depth += 1
        elif code[place] in "})]":
            depth -= 1
            if depth == 0 and code[place] == "}":
                return place + 1
        elif code[place] == ";" and depth == 0:
            return place + 1
    return len(code)


def leaves(tree: str) -> Iterator[str]:
    """Yield each path of a `use`, without braces."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield tree
        return
    part, depth = "", 0
    for letter in rest.rstrip().removesuffix("}") + ",":
        depth += (letter == "{") - (letter == "}")
        if letter != "," or depth:
            part += letter
        elif part.strip():
            yield from leaves(head + part.strip())
            part = ""
        else:
            part = ""


def import_of(leaf: str, *, is_public: bool) -> Import:
    """Return the import that a path of a `use` makes."""
    path, _, alias = leaf.partition(" as ")
    names = tuple(re.sub(r"\s", "", path).removeprefix("::").removesuffix("::self").split("::"))
    return Import(alias.strip() or names[-1], names[:-1] if names[-1] == "*" else names, is_public)


class Crate:
    """The modules of a crate, and the arrows between its files."""

    def __init__(self, folder: Path) -> None:
        self.modules: dict[Names, Module] = {}
        source = folder / "src"
        texts = {file: NO_CODE.sub(" ", file.read_text()) for file in sorted(source.rglob("*.rs"))}
        tests: set[Path] = set()
        for file, text in texts.items():
            content = file.read_text()
            home = file.parent if file.name in FACES else file.with_suffix("")
            while search := UNIT_TEST.search(text):
                end = end_of(text, search.end())
                if match := re.search(r"\bmod\s+(\w+)\s*;", text[search.end() : end]):
                    tests |= {home / f"{match[1]}.rs", home / match[1]}
                text = text[: search.start()] + text[end:]
            tests |= {file.parent / name for name in re.findall(r'#\[cfg\(test\)\]\s*#\[path = "([^"]*)"\]', content)}
            texts[file] = text
        for file, text in texts.items():
            if not tests & {file, *file.parents}:
                parts = file.relative_to(source).with_suffix("").parts
                self.add(parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts, file, text)

    def add(self, names: Names, file: Path, code: str) -> None:
        """Add the module `names` and the modules in its code."""
        while search := MODULE.search(code):
            end = end_of(code, search.end())
            self.add((*names, search[1]), file, code[search.end() + 1 : end - 1])
            code = code[: search.start()] + code[end:]
        sub = USE.sub("", code)
        uses = [import_of(leaf, is_public=bool(match[1])) for match in USE.finditer(code) for leaf in leaves(match[2])]
        self.modules[names] = Module(file, sub, uses, set(ITEM.findall(sub)))

    def whole(self, names: Names, path: Names) -> Names | None:
        """Return `path`, as the module `names` writes it, from the root of the crate; None for another crate."""
        first, rest = path[0].lstrip("$"), path[1:]
        if first == "crate":
            return rest
        if first in {"self", "super"}:
            names = names if first == "self" else names[:-1]
            return self.whole(names, rest) if rest[:1] == ("super",) else names + rest
        if (*names, first) in self.modules:
            return (*names, *path)
        for use in self.modules[names].imports:
            if use.name == first and use.path[0] != first:
                above = self.whole(names, use.path)
                return None if above is None else above + rest
        return None

    def home(self, path: Names, *, exists: bool, paths_seen: frozenset[Names] = frozenset()) -> tuple[Path, str] | None:
        """Return the file that defines the first name of `path` that is no module, with the name; None for a module.

        A name that `exists` and stands nowhere is made by a macro, where the path ends.
        """
        names: Names = ()
        for place, name in enumerate(path):
            if (*names, name) not in self.modules or place + 1 == len(path):
                break
            names = (*names, name)
        else:
            return None
        module = self.modules[names]
        if name in module.items:
            return module.file, name
        exists = exists and (*names, name) not in self.modules
        for use in module.imports:
            above = self.whole(names, use.path) if use.name in {name, "*"} and path not in paths_seen else None
            target = () if above is None else (*above, name)[: None if use.name == "*" else -1] + path[place + 1 :]
            known_home = target and self.home(
                target, exists=exists and use.name == name, paths_seen=paths_seen | {path}
            )
            if known_home:
                return known_home
            exists = exists and use.name != name
        return (module.file, name) if exists else None

    def is_part(self, module: Module, file: Path) -> bool:
        """Return True if `module` continues the `impl` of a type of `file`, which is above it."""
        folder = file.parent if file.name in FACES else file.with_suffix("")
        types = {name for other in self.modules.values() if other.file == file for name in other.items}
        return folder in module.file.parents and not types.isdisjoint(CONTINUED.findall(module.code))

    def arrows(self) -> Arrows:
        """Return the arrows between the files of the crate."""
        arrows: Arrows = defaultdict(lambda: defaultdict(set))
        for names, module in self.modules.items():
            words = set(re.findall(r"\w+", module.code))
            paths = [tuple(re.split(r"\s*::\s*", match[0].removeprefix("::"))) for match in PATH.finditer(module.code)]
            paths += [use.path for use in module.imports if use.name in words or not use.is_public]
            paths_named = [(path, True) for path in paths]
            paths_named += [((*use.path, word), False) for use in module.imports if use.name == "*" for word in words]
            for path, exists in paths_named:
                whole_path = self.whole(names, path)
                home = self.home(whole_path, exists=exists) if whole_path is not None else None
                if home is not None and home[0] != module.file and not self.is_part(module, home[0]):
                    arrows[module.file][home[0]].add(home[1])
        return arrows


def pages() -> Arrows:
    """Return the imports between the files of the pages, by relative paths; to import a type is an arrow, too."""
    arrows: Arrows = defaultdict(lambda: defaultdict(set))
    for file in sorted((ROOT / "web/src").rglob("*.ts*")):
        for names, path in re.findall(r'\b(?:im|ex)port\s([^;"]*?)\sfrom\s+"(\.[^"]*)"', file.read_text()):
            target = (file.parent / path).resolve()
            candidates = [target, target.with_suffix(".ts"), Path(f"{target}.ts"), Path(f"{target}.tsx")]
            arrows[file][next(candidate for candidate in candidates if candidate.is_file())].update(
                re.findall(r"\w+", names)
            )
    return arrows


def circles(arrows: Arrows, root: Path) -> list[str]:
    """Return each circle as text: the arrows in it, with their names."""

    def reach(file: Path) -> set[Path]:
        files_seen: set[Path] = set()
        waiting = [file]
        while waiting:
            new = set(arrows.get(waiting.pop(), ())) - files_seen
            files_seen |= new
            waiting += new
        return files_seen

    behind = {file: reach(file) for file in list(arrows)}
    groups = {frozenset(other for other in behind[file] if file in behind.get(other, ())) for file in arrows}
    return [
        "\n".join(
            f"{file.relative_to(root)} -> {target.relative_to(root)}: {', '.join(sorted(names))}"
            for file in sorted(group)
            for target, names in sorted(arrows[file].items())
            if target in group
        )
        for group in sorted(groups, key=sorted)
        if group
    ]


def test_no_files_of_a_crate_name_each_other_in_a_circle() -> None:
    circles_found = [circle for folder in CRATES for circle in circles(Crate(folder).arrows(), ROOT)]
    assert not circles_found, "circles of files:\n\n" + "\n\n".join(circles_found)


def test_no_files_of_the_pages_import_each_other_in_a_circle() -> None:
    circles_found = circles(pages(), ROOT)
    assert not circles_found, "circles of files:\n\n" + "\n\n".join(circles_found)


def test_all_crates_and_pages_are_looked_at() -> None:
    assert sum(len(Crate(folder).modules) for folder in CRATES) > 500
    assert len(pages()) > 50


FACE = "mod low;\nmod high;\npub(crate) use low::Number;\npub(crate) use high::double;\n"
LOW = "/// `crate::part::double` is no arrow here.\npub(crate) struct Number;\n"
HIGH = "use super::Number;\npub(crate) fn double(number: Number) {}\n"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        (
            {"part/low.rs": LOW + "fn all() { super::double(Number) }\n"},
            ["src/part/high.rs -> src/part/low.rs: Number\nsrc/part/low.rs -> src/part/high.rs: double"],
        ),
        ({"part/low.rs": LOW + "#[cfg(test)]\nmod tests {\n    use super::super::double;\n}\n"}, []),
        ({"part/low.rs": LOW + "#[cfg(test)]\nmod tests;\n", "part/low/tests.rs": "use crate::part::double;"}, []),
        (
            {"part/low.rs": LOW + "use crate::part;\nfn all() { part::high::double(Number) }\n"},
            ["src/part/high.rs -> src/part/low.rs: Number\nsrc/part/low.rs -> src/part/high.rs: double"],
        ),
        (
            # A face that uses its re-exports, and defines an item itself.
            {
                "part/mod.rs": FACE + "pub(crate) struct Own(Number);\n",
                "part/low.rs": LOW + "use super::{Own as Mine};\n",
            },
            ["src/part/low.rs -> src/part/mod.rs: Own\nsrc/part/mod.rs -> src/part/low.rs: Number"],
        ),
        # A part of the file above it.
        (
            {
                "part/mod.rs": FACE + "struct Whole(Number);\n",
                "part/low.rs": LOW + "use super::Whole;\nimpl Whole {}\n",
            },
            [],
        ),
        (
            {
                "part/mod.rs": FACE + "struct Whole(Number);\n",
                "part/low.rs": LOW + "impl From<Own> for super::Whole {}\n",
            },
            ["src/part/low.rs -> src/part/mod.rs: Whole\nsrc/part/mod.rs -> src/part/low.rs: Number"],
        ),
        (
            {"part/low.rs": LOW + "use super::*;\nfn all() { double(Number) }\n"},
            ["src/part/high.rs -> src/part/low.rs: Number\nsrc/part/low.rs -> src/part/high.rs: double"],
        ),
        ({"part/low.rs": LOW + 'const TEXT: &str = "crate::part::double";\n'}, []),
    ],
)
def test_a_circle_is_found_and_only_a_circle(tmp_path: Path, changes: dict[str, str], expected: list[str]) -> None:
    files = {"lib.rs": "mod part;\nmod deep { pub use crate::part::double; }\n"}
    files |= {"part/mod.rs": FACE, "part/low.rs": LOW, "part/high.rs": HIGH} | changes
    for name, text in files.items():
        place = tmp_path / "src" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    assert circles(Crate(tmp_path).arrows(), tmp_path) == expected
