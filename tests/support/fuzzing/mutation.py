"""Mutations of valid inputs: changes that transfers, editors, other tools and other people make to files."""

import random
import re

NUMBERS = [
    *b"0 -1 1 -0.0 1e-9 1e-300 1e9 1e300 -1e300 0.1 2 255 256 65535 65536 2147483648 4294967296".split(),
    *b"9007199254740993 18446744073709551616 1e400 nan inf -inf NaN Infinity 1_000 0x10 007 1e 1.5.2 +5".split(),
    *(b"9" * 5000, b"0." + b"0" * 400 + b"1", "\N{ARABIC-INDIC DIGIT THREE}".encode()),
]
"""Numbers at the limits of the stored types, and texts that look like numbers."""

TEXTS = (
    *(b"", b" ", b"\n", b"\r\n", b"\t", b"\0", b"\x1b[31m", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\\ud800"),
    *(
        b"..",
        b"../" * 2 + b"x",
        b"/",
        b"/etc/passwd",
        b".",
        b".lock",
        b"-",
        b"*",
        b"$\\frac{$",
        b"<script>",
        b"';--",
        b"%s",
        b"{}",
    ),
    *("\N{RIGHT-TO-LEFT OVERRIDE}a".encode(), "é".encode(), "e\u0301".encode(), b"a" * 300, b"a" * 100_000),
    *(
        b"[" * 2000,
        b"{" * 2000,
        b'{"a":' * 2000,
        b"a." * 2000,
        b"(" * 300,
        b"true",
        b"null",
        b"[]",
        b"{}",
        b'"',
        b"'",
        b"=",
    ),
)

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_.-]*")


def mutate(valid: list[bytes], draw: random.Random) -> bytes:
    """Return one of the valid inputs, changed once or a few times."""
    content = draw.choice(valid)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        content = draw.choice(_CHANGES)(content, valid, draw)
    return content


def _span(content: bytes, draw: random.Random) -> tuple[int, int]:
    start = draw.randint(0, len(content))
    return start, min(len(content), start + int(draw.expovariate(1 / draw.choice((2, 20, 300)))) + 1)


def _number(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    return _replace(_NUMBER, content, draw.choice(NUMBERS), draw)


def _scale(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    factor = draw.choice((-1, 1e-12, 1e-6, 1e-3, 10, 1e3, 1e6, 1e12))
    matches = list(_NUMBER.finditer(content))
    if not matches:
        return content
    match = draw.choice(matches)
    is_whole = b"." not in match[0] and abs(factor) >= 1
    number = float(match[0]) * factor
    text = str(int(number)) if is_whole and abs(number) < 1e300 else repr(number)
    return content[: match.start()] + text.encode() + content[match.end() :]


def _word(content: bytes, valid: list[bytes], draw: random.Random) -> bytes:
    words = _WORD.findall(draw.choice(valid)) or [b"a"]
    return _replace(_WORD, content, draw.choice((draw.choice(words), draw.choice(TEXTS))), draw)


def _replace(pattern: re.Pattern[bytes], content: bytes, new: bytes, draw: random.Random) -> bytes:
    matches = list(pattern.finditer(content))
    if not matches:
        return content + new
    match = draw.choice(matches)
    return content[: match.start()] + new + content[match.end() :]


def _insert(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    place = draw.randint(0, len(content))
    return content[:place] + draw.choice(TEXTS) + content[place:]


def _remove(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    start, end = _span(content, draw)
    return content[:start] + content[end:]


def _repeat(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    start, end = _span(content, draw)
    return content[:end] + content[start:end] * draw.choice((1, 2, 50)) + content[end:]


def _overwritten(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    start, end = _span(content, draw)
    return content[:start] + draw.randbytes(end - start) + content[end:]


def _cut_off(content: bytes, _: list[bytes], draw: random.Random) -> bytes:
    return content[: draw.randint(0, len(content))]


def _lines(content: bytes, valid: list[bytes], draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(4):
        case 0:
            lines[first], lines[second] = lines[second], lines[first]
        case 1:
            del lines[first]
        case 2:
            lines.insert(first, lines[second])
        case _:
            other_lines = draw.choice(valid).splitlines(keepends=True) or [b""]
            lines.insert(first, draw.choice(other_lines))
    return b"".join(lines)


def _splice(content: bytes, valid: list[bytes], draw: random.Random) -> bytes:
    other = draw.choice(valid)
    return content[: draw.randint(0, len(content))] + other[draw.randint(0, len(other)) :]


_CHANGES = (
    *(_number, _number, _scale, _scale, _word, _word),
    *(_insert, _remove, _repeat, _overwritten, _cut_off, _lines, _lines, _splice),
)
