"""Shell commands of a script in packetdrill's syntax, which are read for their settings and not executed."""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

from dumbbell_conformance.packetdrill.text import OutOfScopeError, quotation

_CONTINUATION = "\v"  # a line feed removed by a backslash
_SEPARATORS = {";", "&&", "||", "|", "&"}
_MAX_LINE_CHARACTERS = 10_000
_QUIET = ("true", ":", "sleep", "set", "cd", "export")
_TOLD_BY_PACKETS = {"tcp_ecn", "tcp_timestamps", "tcp_window_scaling", "tcp_fastopen", "tcp_fastopen_key"}
_PLAIN_QDISCS = {"pfifo", "bfifo", "pfifo_fast", "noqueue"}


@dataclass
class Settings:
    """Settings made by commands."""

    controller: str = ""
    """Congestion control of Linux; empty if none is named."""
    parameters: dict[str, str] = field(default_factory=dict)
    """Parameters of the controller that replace Linux's."""
    switches: dict[str, str] = field(default_factory=dict)
    """Settings of the transport."""
    window: int | None = None
    """First window, packets."""
    is_paced: bool = False
    """True if a queueing discipline paces packets."""
    notes: list[str] = field(default_factory=list)
    """Omitted parts of the latest commands."""


def _flag(value: int) -> str:
    return "yes" if value else "no"


_SYSCTLS: dict[str, Callable[[int], tuple[str, str]]] = {
    "tcp_sack": lambda value: ("sack", _flag(value)),
    "tcp_early_retrans": lambda value: ("tail_loss_probe", _flag(value in (3, 4))),
    "tcp_recovery": lambda value: ("time_threshold", "1.25" if value & 1 else "0"),
    "tcp_reordering": lambda value: ("packet_threshold", str(value)),
    "tcp_rto_min_us": lambda value: ("timeout_min_ms", f"{value / 1000:g}"),
    "tcp_slow_start_after_idle": lambda value: ("restart_window", _flag(value)),
}


@dataclass(frozen=True)
class Command:
    """One command of a shell."""

    line: int
    """Number of the command's line in the text, from 0."""
    words: list[str]
    target: str
    """File for the command's output; empty if none is named."""


def split_commands(text: str) -> Iterator[Command]:
    """Yield the commands of a text, without comments."""
    number = 0
    for joined_line in text.replace("\\\n", _CONTINUATION).split("\n"):
        line = joined_line.replace(_CONTINUATION, " ")
        if len(line) > _MAX_LINE_CHARACTERS:
            raise ValueError(f"a command of {len(line)} characters: expected at most {_MAX_LINE_CHARACTERS}")
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            raise ValueError(f"command `{quotation(line)}`: a quotation is not closed") from None
        yield from _between_separators(number, words)
        number += 1 + joined_line.count(_CONTINUATION)


def _between_separators(line: int, words: list[str]) -> Iterator[Command]:
    """Yield the commands between separators."""
    command: list[str] = []
    for word in [*words, ";"]:
        if word not in _SEPARATORS:
            command.append(word)
        elif command:
            to = next((index for index, word_or_mark in enumerate(command) if word_or_mark.endswith(">")), len(command))
            command_words = command[: to - 1] if to < len(command) and command[to - 1] in ("1", "2") else command[:to]
            if command_words:
                yield Command(line, command_words, "".join(command[to + 1 : to + 2]))
            command = []


def take_command(settings: Settings, command: Command) -> None:
    """Add the settings of a command to `settings`.

    Raises:
        ValueError: If a setting has no allowed value.
        OutOfScopeError: If the command changes the tested behaviour, and a script cannot express the change.
    """
    words, target = command.words, command.target
    name, quoted_command = PurePosixPath(words[0]).name, quotation(" ".join(words))
    match name:
        case "defaults.sh":
            # packetdrill's own file: it sets Linux's defaults, except for this one
            settings.switches["restart_window"] = "no"
        case "sysctl" | "set_sysctls.py":
            for word in (word for word in words[1:] if not word.startswith("-")):
                key, is_set, value = word.partition("=")
                if is_set:
                    _set(settings, key, value)
        case "echo" if target.startswith(("/proc/sys/", "/sys/module/")):
            _set(settings, target, words[-1])
        case "tc":
            _take_queue(settings, words, quoted_command)
        case "ip" if "tcp_metrics" in words:
            pass
        case "ip" | "ip6" | "ifconfig" | "route":
            followers = dict(pairwise(words))
            if not {"mtu", "advmss"} & set(words) and followers.get("initcwnd", "").isdecimal():
                settings.window = min(max(int(followers["initcwnd"]), 1), 1_000_000)
            else:
                raise OutOfScopeError(f"`{quoted_command}` changes routes or interfaces of the kernel")
        case "iptables" | "ip6tables" | "nft" | "tcpdump":
            raise OutOfScopeError(f"`{quoted_command}` changes packets of the kernel")
        case _ if name in _QUIET or name.startswith("sysctl_restore"):
            pass
        case _:
            settings.notes.append(f"command `{quoted_command}`: no command is executed")


def _take_queue(settings: Settings, words: list[str], quoted_command: str) -> None:
    if {"del", "delete", "show"} & set(words):
        return
    if "fq" in words:
        settings.is_paced = True
        settings.notes.append(f"command `{quoted_command}`: no packet is paced")
    elif not _PLAIN_QDISCS & set(words) or "limit" in words:
        raise OutOfScopeError(f"`{quoted_command}`: packets are held or lost in the sending host")


def _set(settings: Settings, key: str, value: str) -> None:
    """Take a sysctl, or a parameter of a kernel module, by its name or by its file."""
    name = key.removeprefix("/proc/sys/").replace("/", ".").strip(".")
    if not re.fullmatch(r"[\w.-]+", name):
        raise ValueError(f"sysctl `{quotation(key)}`: expected a name such as net.ipv4.tcp_sack")
    short = name.removeprefix("net.ipv4.")
    if short == "tcp_congestion_control":
        settings.controller = value
    elif name.startswith("sys.module.tcp_cubic.parameters.hystart"):
        _take_hystart(settings, name.rpartition(".")[2], value)
    elif short in _SYSCTLS:
        switch, setting = _SYSCTLS[short](_whole(name, value))
        settings.switches[switch] = setting
    elif short == "tcp_mtu_probing" and value != "0":
        raise OutOfScopeError(f"sysctl `{name}`: the built-in transport does not look for larger segments")
    elif short not in _TOLD_BY_PACKETS:
        settings.notes.append(f"sysctl `{name}`: no such setting of the built-in transport")


def _whole(name: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise ValueError(f"sysctl `{name}` = `{quotation(value)}`: expected a whole number")
    return int(value)


def _take_hystart(settings: Settings, parameter: str, value: str) -> None:
    match parameter, value:
        case "hystart", "1":
            pass
        case "hystart_detect", "3":
            pass
        case (("hystart" | "hystart_detect"), "0"):
            settings.parameters["slow_start"] = "classic"
        case (("hystart" | "hystart_detect"), _):
            raise OutOfScopeError(f"`{parameter}` = {quotation(value)}: the built-in HyStart has both detections")
        case _:
            settings.notes.append(f"`{parameter}` of tcp_cubic: no such setting of the built-in controller")
