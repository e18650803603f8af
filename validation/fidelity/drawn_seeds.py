"""Seeds that nobody chose: each is a hash of a release's name, of its purpose, and of a number."""

import hashlib


def seed(draw: str, purpose: str, number: int = 1) -> int:
    """Return a seed of 31 bits: the first four bytes of SHA-256 of `DRAW/PURPOSE/NUMBER`, without the highest bit."""
    digest = hashlib.sha256(f"{draw}/{purpose}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF
