"""Types of the JSON in which the core describes controllers, plug-ins, scripts and environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, final

from dumbbell.contract.read_only import ReadOnly


class Parameter(TypedDict):
    """A parameter of a controller."""

    name: ReadOnly[str]
    unit: ReadOnly[str]
    kind: ReadOnly[Literal["number", "integer", "flag", "choice", "file"]]
    min: ReadOnly[int | float | None]
    max: ReadOnly[int | float | None]
    choices: ReadOnly[Sequence[str] | None]
    default: ReadOnly[int | float | bool | str | None]
    help: ReadOnly[str]
    needed: ReadOnly[bool]
    """True if a file has to be named."""


class Controller(TypedDict):
    """A controller that is built in."""

    name: ReadOnly[str]
    summary: ReadOnly[str]
    parameters: ReadOnly[Sequence[Parameter]]


class Field(TypedDict):
    """A number that a controller reports."""

    name: ReadOnly[str]
    unit: ReadOnly[str]


class PluginController(Controller):
    """A controller of a library, or of a file with classes in Python."""

    fields: ReadOnly[Sequence[Field]]
    hears_ecn: ReadOnly[bool]
    """True if the controller reacts to marks."""


class ControllerFigures(TypedDict):
    """Cost of a controller in a run of its own."""

    scheme: ReadOnly[str]
    controller: ReadOnly[str]
    duration_s: ReadOnly[float]
    throughput_mbps: ReadOnly[float]
    packets: ReadOnly[int]
    acks: ReadOnly[int]
    ns_per_ack: ReadOnly[float]
    ns_per_packet: ReadOnly[float]
    replay_ns_per_ack: ReadOnly[float]
    """Cost of the replay itself, which the other figures do not contain."""
    half: ReadOnly[Mapping[str, int | float] | None]
    """Cost where the receiver reports half of the packets in each feedback; None of controllers without feedback."""
    decisions: ReadOnly[Mapping[str, int | float] | None]
    """Cost of decisions; None of controllers that decide nothing apart from ACKs."""


class BlockFigures(TypedDict):
    """Cost of a controller for an ACK, by block."""

    scheme: ReadOnly[str]
    acks: ReadOnly[int]
    ns: ReadOnly[Sequence[float]]
    instructions: ReadOnly[Sequence[float]]
    """Empty where the machine does not count instructions."""


class ComparedFigures(TypedDict):
    """Costs of two controllers that were measured in turn."""

    candidate: ReadOnly[BlockFigures]
    baseline: ReadOnly[BlockFigures]


class ScriptHead(TypedDict):
    """The head of a script."""

    drives: ReadOnly[Literal["controller", "sender", "receiver"]]
    title: ReadOnly[str]
    controller: ReadOnly[str]
    parameters: ReadOnly[Mapping[str, str]]
    transports: ReadOnly[Sequence[str]]


class Condition(TypedDict):
    """A condition of a script that was run."""

    line: ReadOnly[int]
    time_s: ReadOnly[float]
    condition: ReadOnly[str]
    found: ReadOnly[str]
    holds: ReadOnly[bool | None]
    """None if the controller does not report the field."""
    source: ReadOnly[str]
    known: NotRequired[ReadOnly[str | None]]
    """The reason why the condition is known not to hold."""


@final
class ScriptReport(TypedDict):
    """The report on a script that was run."""

    title: ReadOnly[str]
    checks: ReadOnly[Sequence[Condition]]
    steps: NotRequired[ReadOnly[Sequence[Mapping[str, object]]]]
    """Every event with its fields, which are the controller's."""
    not_applicable: NotRequired[ReadOnly[str]]
    """The reason why the script says nothing about the controller."""


class EnvironmentFields(TypedDict):
    """What environments for agents report."""

    fields: ReadOnly[Sequence[tuple[str, str, str]]]
    """Name, unit and meaning of each field of a step."""
    oracle: ReadOnly[Sequence[tuple[str, str, str]]]
    rewards: ReadOnly[Sequence[tuple[str, str]]]
    """Name and meaning."""
    sights: ReadOnly[Sequence[tuple[str, float, float, str]]]
    """Name, lowest value, highest value and meaning."""
    agents: ReadOnly[Sequence[str]]


class CriticalValues(TypedDict):
    """Critical values of Student's t, as nodes of an interpolation."""

    level: ReadOnly[float]
    min_values: ReadOnly[int]
    inverse_freedom: ReadOnly[Sequence[float]]
    weights: ReadOnly[Sequence[float]]
    values: ReadOnly[Sequence[Sequence[float]]]


class EmulationCheck(TypedDict):
    """A check of what emulation needs of a machine."""

    name: ReadOnly[str]
    good: ReadOnly[bool]
    found: ReadOnly[str]
    fix: ReadOnly[str]
    """What to do if the check fails."""
