"""Families of schemes: those whose controllers go by the same signal or come from one design."""

FAMILIES = {
    "loss": "loss or ECN",
    "bbr": "BBR",
    "copa": "Copa",
    "delay": "Vegas, LEDBAT",
    "pcc": "PCC",
    "learned": "learned",
    "media": "media",
    "other": "others",
}
"""Names for people."""

_WORDS = {
    "loss": "reno newreno cubic hybla iperf dctcp prague",
    "bbr": "bbr",
    "copa": "copa",
    "delay": "vegas ledbat libutp",
    "pcc": "pcc vivace proteus",
    "learned": "astraea aurora fair farc indigo muses neural orca sage tao ten teams",
    "media": "gcc nada scream webrtc",
    "other": "fillp koho sourdough sprout udp verus",
}
_OF = {word: family for family, words in _WORDS.items() for word in words.split()}


def family_name(name: str) -> str:
    """Return the name of a scheme's family, for people; of a mix, and of schemes that no word tells, `others`."""
    return FAMILIES[family(name) or "other"]


_YIELDS = ("ledbat", "libutp", "proteus-s")


def yields(name: str) -> bool:
    """Return True for a scheme whose design yields the path to others (RFC 6817, Proteus): it wants no fair share."""
    return any(each in name for each in _YIELDS)


def family(name: str) -> str | None:
    """Return the family of a scheme of the catalog, by the words of its name; None where no word tells."""
    if "+" in name:
        return None  # a mix
    words = (word.rstrip("0123456789") for word in name.split("-"))
    # `copa-gcc2017` is Copa: the first word that tells decides
    return next((_OF[word] for word in words if word in _OF), None)
