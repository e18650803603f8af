"""Habits of language that make text hard to read for people whose second language is English, counted by room.

Usage: python -m scripts.words [--lower] [--list FAULT [ROOM]]. Without options the counts are printed beside their
ceilings (`tests/house/word_ceilings.json`). `--lower` writes the counts as the new ceilings, and refuses to raise one.

- opener: a comment or docstring that opens with What, Whether, How, Those, Where, That, Which, Why or Who
- no noun: a first line of six words or more, of which at least 62 % are articles, pronouns, prepositions, conjunctions
  and forms of "to be"
- of: a comment or docstring that opens with a bare "Of" or "As of"
- name: a variable, argument or type of which the whole name is a participle or a pronoun
- long: a sentence of more than 35 words in documentation
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CEILINGS = ROOT / "tests" / "house" / "word_ceilings.json"

POPULATIONS = {"opener": "text", "no noun": "text", "of": "text", "name": "all names", "long": "sentence"}
"""Population of each fault: comments and docstrings, names, sentences of documentation."""

OPENERS = {"what", "whether", "how", "those", "where", "that", "which", "why", "who"}


def _words(text: str) -> frozenset[str]:
    """Return the words of `text`."""
    return frozenset(text.split())


FUNCTION_WORDS = _words(
    """
    a about above after all also am an and another any are as at be because been before being below between both but
    by down each either else few for from further he her here him his how i if in instead into is it its itself just
    like many me mine more most much my neither no none nor not nothing of on one ones onto or other others our ours
    out over she so some something than that the their theirs them themselves then there these they this those thus
    to toward towards under up us was we were what whatever when whence where whereas wherever whether which
    whichever who whoever whom whose why with you your yours
    """
)

# Participles that English does not form with -ed, and pronouns.
PARTICIPLES = _words(
    """
    begun borne bought broken brought built chosen come cut done drawn driven fallen felt fought found given gone grown
    heard held hidden kept known laid learnt led left lent lost made meant met paid put said seen sent set shown shut
    sold spent split spoken stood stuck taken taught thought thrown told understood won worn written
    """
)
PRONOUNS = _words(
    """
    all another any both each either everything few her here him his how in it its many mine most much neither none
    nothing of one other others our ours out own same she some something such that their theirs them there these they
    this those thus us we what when where which who whole whom whose why you yours
    """
)
# Nouns, adjectives and verbs of which the form is that of a participle, and names that everybody gives.
ALLOWED = _words(
    "bed elapsed embed exceed expected feed fixed left need other out proceed red seed set shed speed succeed"
)

TYPE = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type|union) ([A-Z][A-Za-z0-9]*)")
TS_NAME = re.compile(r"\b(?:const|let|var|interface|type|class|function) ([A-Za-z_$][\w$]*)")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


@dataclass(frozen=True)
class Fault:
    """Place of a habit: its kind, the room, the file with its line, and the text."""

    kind: str
    room: str
    place: str
    text: str


def room(file: str) -> str:
    """Return the room of a file: the crate, package or folder that its author knows as a whole."""
    parts = file.split("/")
    if parts[0] == "python":
        return "/".join(parts[:3]) if parts[1] == "dumbbell" and len(parts) > 3 else "/".join(parts[:2])
    if parts[0] in {"crates", "tests", "web", "validation", "docs"}:
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    return parts[0] if len(parts) > 1 else "root"


def is_nounless(text: str) -> bool:
    """Return True if the first line of `text` has six words or more and is mostly function words."""
    words = [word.lower() for word in WORD.findall(text.strip().splitlines()[0])] if text.strip() else []
    return len(words) >= 6 and sum(word in FUNCTION_WORDS for word in words) >= 0.62 * len(words)


def is_bare(name: str) -> bool:
    """Return True if the whole name is a participle or a pronoun."""
    word = name.strip("_").lower()
    if not word.isalpha() or name.isupper() or name.startswith("__") or word in ALLOWED:
        return False
    return word in PARTICIPLES or word in PRONOUNS or (len(word) > 4 and word.endswith("ed"))


def text_kinds(text: str) -> Iterator[str]:
    """Yield the habits of a comment or docstring."""
    words = WORD.findall(text)
    if not words:
        return
    first = words[0].lower()
    if first in OPENERS:
        yield "opener"
    if first == "of" or (first == "as" and len(words) > 1 and words[1].lower() == "of"):
        yield "of"
    if is_nounless(text):
        yield "no noun"


def line_comments(source: str, marks: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each block of comments that fill their lines."""
    block: list[str] = []
    start = 0
    for number, line in enumerate([*source.splitlines(), ""], start=1):
        text = line.strip()
        if text.startswith(marks):
            body = text.lstrip("/!*# ").removesuffix("*/").strip()
            if not block:
                start = number
            block.append(body)
            continue
        if any(block):
            yield start, "\n".join(line for line in block if line)
        block = []


def python_texts(tree: ast.Module, source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, those of attributes among them, and comments of a Python file."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text.strip()
    lines = source.splitlines()
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_alone = token.type == tokenize.COMMENT and lines[token.start[0] - 1].strip().startswith("#")
        if is_alone and not token.string.startswith(("#!", "# type:", "# noqa", "# ruff")):
            comments.append((token.start[0], token.string.lstrip("# ").strip()))
    last = -1
    for number, text in comments:
        if number != last + 1:
            yield number, text
        last = number


def python_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names that a Python file gives: arguments, variables and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.ClassDef):
            yield node.lineno, node.name


def sentences(page: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a page of Markdown, without tables, code and headings."""
    is_code = False
    paragraph: list[str] = []
    start = 0
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        text = line.strip()
        if text.startswith("```"):
            is_code = not is_code
        is_prose = bool(text) and not is_code and not text.startswith(("|", "#", "<", "```"))
        is_item = bool(re.match(r"([-*]|\d+\.) ", text))
        if paragraph and (not is_prose or is_item):
            for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[])", " ".join(paragraph)):
                yield start, sentence
            paragraph = []
        if is_prose:
            start = start if paragraph else number
            paragraph.append(text)


def file_faults(file: str) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, line and text of each habit in a file, and of each member of the populations."""
    source = (ROOT / file).read_text(encoding="utf-8")
    texts: Iterator[tuple[int, str]] = iter(())
    if file.endswith(".py"):
        tree = ast.parse(source)
        texts = python_texts(tree, source)
        for number, name in python_names(tree):
            yield "all names", number, name
            if is_bare(name):
                yield "name", number, name
    elif file.endswith(".rs"):
        texts = line_comments(source, ("//",))
        for number, line in enumerate(source.splitlines(), start=1):
            if match := TYPE.match(line):
                yield "all names", number, match[1]
                if is_bare(match[1]):
                    yield "name", number, match[1]
    elif file.endswith((".ts", ".tsx")):
        texts = line_comments(source, ("//", "/**", "*"))
        for number, line in enumerate(source.splitlines(), start=1):
            for name in TS_NAME.findall(line):
                yield "all names", number, name
                if is_bare(name):
                    yield "name", number, name
    elif file.endswith(".md"):
        for number, sentence in sentences(source):
            yield "sentence", number, sentence
            if len(sentence.split()) > 35:
                yield "long", number, sentence
    for number, text in texts:
        yield "text", number, text
        for kind in text_kinds(text):
            yield kind, number, text.splitlines()[0]


def faults() -> list[Fault]:
    """Return every habit in the files of the repository, and the members of the populations."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.rs", "*.ts", "*.tsx", "*.md"]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [
        Fault(kind, room(file), f"{file}:{number}", text)
        for file in files
        if (ROOT / file).exists()
        for kind, number, text in file_faults(file)
    ]


def counts(places: list[Fault]) -> dict[str, dict[str, int]]:
    """Return the number of faults by room and kind."""
    numbers = Counter((place.room, place.kind) for place in places if place.kind in POPULATIONS)
    result: dict[str, dict[str, int]] = {}
    for (name, kind), number in sorted(numbers.items()):
        result.setdefault(name, {})[kind] = number
    return result


def ceilings() -> dict[str, dict[str, int]]:
    """Return the maximum number of faults of a room, by room and kind; a missing room may have none."""
    by_room: dict[str, dict[str, int]] = json.loads(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.exists() else {}
    return by_room


def excesses(places: list[Fault]) -> list[str]:
    """Return a line for each room that has more faults than its ceiling."""
    maxima = ceilings()
    return [
        f"{name}: {number} of the kind {kind!r}, {maxima.get(name, {}).get(kind, 0)} allowed: "
        f"`python -m scripts.words --list {kind!r} {name}`"
        for name, kinds in counts(places).items()
        for kind, number in kinds.items()
        if number > maxima.get(name, {}).get(kind, 0)
    ]


def main() -> None:
    """Print the counts or the places, or lower the ceilings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--list", nargs="+", metavar=("FAULT", "ROOM"))
    arguments = parser.parse_args()
    places = faults()
    if arguments.list:
        kind, *rooms = arguments.list
        for place in places:
            if place.kind == kind and (not rooms or place.room in rooms):
                print(f"{place.place}: {place.text}")
        return
    if arguments.lower:
        if CEILINGS.exists() and (lines := excesses(places)):
            sys.exit("\n".join(["ceilings may only fall", *lines]))
        CEILINGS.write_text(json.dumps(counts(places), indent=1) + "\n", encoding="utf-8")
        return
    maxima = ceilings()
    for name, kinds in counts(places).items():
        print(name, ", ".join(f"{kind} {number}/{maxima.get(name, {}).get(kind, 0)}" for kind, number in kinds.items()))
    for language in (".rs", ".py", ".ts", ".tsx", ".md"):
        numbers = Counter(place.kind for place in places if place.place.rpartition(":")[0].endswith(language))
        shares = (
            f"{kind} {numbers[kind] / numbers[all_of]:.1%}" for kind, all_of in POPULATIONS.items() if numbers[all_of]
        )
        print(language, ", ".join(shares))


if __name__ == "__main__":
    main()
