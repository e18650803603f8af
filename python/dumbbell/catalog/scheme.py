"""Schemes: a congestion controller, or a program with one in it, and how it is run, shown and drawn."""

from dataclasses import dataclass, field
from pathlib import Path

from dumbbell.base.errors import full_name, listed
from dumbbell.base.names import require_names
from dumbbell.catalog.index import read_name
from dumbbell.catalog.open_tables import Application, Transport
from dumbbell.catalog.programs import Program, parse_program
from dumbbell.catalog.toml_tables import MOST_LABEL, TomlTable, parse_toml, to_toml

MARKERS = ("*", "h", "^", "<", ">", "H", "p", "8", "1", "v", "o", "d", "+", "D", "s", "x", "P", "X", ".")
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
"""Families of schemes, those whose controllers go by the same signal or come from one design, and names for people."""
STATUSES = ("verified", "experimental", "imported")
SYSCTLS = ("tcp_rmem", "tcp_wmem")  # of the transport of kernel schemes: the socket buffers in their namespaces
KINDS = ("core", "plugin", "python", "kernel", "bpf", "program")
WHAT = {
    "core": "a built-in controller",
    "plugin": "a controller of a library",
    "python": "a controller in Python",
    "kernel": "a kernel controller",
    "bpf": "a kernel controller in BPF",
    "program": "a real program",
}
MAXIMUM_CONTROLLER_NAME = 15
"""Linux: TCP_CA_NAME_MAX is 16, with the terminating null."""


CODE = {"plugin": "library", "python": "file"}
"""The keys that name the file of a controller from outside."""

CONTROLLER = {"python": "class"}
"""The key that names the controller, where it is not `controller`."""


TRANSPORTS = ("tcp", "quic")
"""Transports whose rules differ: TCP has a retransmission timeout, QUIC persistent congestion."""


def transports_of(profile: object) -> tuple[str, ...]:
    """Return the transports whose rules hold for a profile of the built-in transport."""
    return ("quic",) if profile in ("quic", "datagram") else ("tcp",)


GREEDY: Application = {"kind": "greedy"}
"""The application of schemes that bring none of their own, and what programs count as."""


@dataclass(frozen=True)
class Scheme:
    """A congestion controller, its parameters and transport, and how figures show it.

    `kind` says where the controller is: in our core, in a library (`plugin`), in a class in Python, in the kernel,
    loaded into the kernel as BPF, or in a program. `code` is the library or the file with the class, by full name, and
    `files` has the SHA-256 of every file that the scheme depends on, by full name, once it is part of a run.
    `application` is what its flows carry unless an experiment says otherwise: media schemes bring an encoder.
    """

    name: str
    title: str
    color: str
    marker: str
    controller: str
    summary: str = ""
    source: str = ""
    status: str = "experimental"
    kind: str = "core"
    family: str = field(default="", compare=False)
    """The key of `FAMILIES`; empty where none is known. Results do not keep it: they ask for the scheme's name."""
    yields: bool = field(default=False, compare=False)
    """True if the design yields the path to others (RFC 6817, Proteus): the scheme wants no fair share."""
    aliases: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)
    transport: Transport = field(default_factory=dict)
    application: Application = field(default_factory=lambda: dict(GREEDY))
    program: Program | None = None
    code: str = ""
    files: dict[str, str] = field(default_factory=dict)
    file: str = field(default="", compare=False)
    """Where it is from, for messages: its file, or the option that changed it."""
    origin: str = field(default="", compare=False)
    """The file that it was read from, where `file` is an option by now."""
    folder: str = field(default="", compare=False)
    """To which names of files in its parameters are relative."""
    assigned: frozenset[str] = field(default=frozenset(), compare=False)
    """Parameters that the command line sets."""

    def __post_init__(self) -> None:
        require_names("scheme", (self.name, *self.aliases), self.file)

    @property
    def real(self) -> bool:
        """Whether it needs real packets."""
        return self.kind != "core" and not self.is_outside

    @property
    def is_outside(self) -> bool:
        """Whether its controller is somebody's library or class."""
        return self.kind in ("plugin", "python")

    @property
    def transports(self) -> tuple[str, ...]:
        """Transports whose rules hold for it; of a program both, as nothing says which it has."""
        return TRANSPORTS if self.kind == "program" else transports_of(self.transport.get("profile"))

    @property
    def transport_text(self) -> str:
        """Return its transport in words, `quic, ack_every 10`; empty of a scheme that brings its own."""
        if self.real:
            return ""
        settings = [f"{key} {value}" for key, value in sorted(self.transport.items()) if key != "profile"]
        return ", ".join([str(self.transport.get("profile", TRANSPORTS[0])), *settings])

    @property
    def is_traffic(self) -> bool:
        """Whether it knows no congestion control: something to run beside schemes, not one of them."""
        return self.controller == "unresponsive"

    def table(self) -> dict[str, object]:
        """As written to an experiment file under `[scheme.NAME]`."""
        table: dict[str, object] = {
            "title": self.title,
            "color": self.color,
            "marker": self.marker,
            "kind": self.kind,
            CONTROLLER.get(self.kind, "controller"): self.controller,
            "summary": self.summary,
            "source": self.source,
            "status": self.status,
        }
        table |= {"parameters": dict(self.parameters), "transport": dict(self.transport)}
        if self.application != GREEDY:
            table["application"] = dict(self.application)
        if self.is_outside:
            table[CODE[self.kind]] = self.code
        if self.files:
            table["files"] = dict(self.files)
        return table | ({} if self.program is None else {"program": self.program.table()})

    def to_toml(self) -> str:
        """The content of a file of its own, which reads back as the same."""
        return to_toml({"name": self.name, "aliases": list(self.aliases)} | self.table())

    @classmethod
    def from_toml(cls, text: str) -> "Scheme":
        """A scheme from the content of its file.

        Raises:
            UserError: a key or value that is not allowed.
        """
        return parse_scheme(parse_toml(text, "TOML"))


def parse_scheme(table: TomlTable, name: str | None = None) -> Scheme:
    """A scheme from its table; `name` for one that is defined inside an experiment file."""
    if name is None:
        name = read_name(table)
    told = [each for each, key in CODE.items() if table.has(key)]
    kind = table.text("kind", told[0] if told else "core", KINDS)
    status = table.text("status", "experimental", STATUSES)
    parameters = _parameters(table.table("parameters"))
    folder = Path(table.source).resolve().parent
    scheme = Scheme(
        name=name,
        title=table.title("title", name, MOST_LABEL),
        color=table.text("color", "dimgray"),
        marker=table.text("marker", "o", MARKERS),
        kind=kind,
        family=table.text("family", choices=tuple(FAMILIES)) if table.has("family") else "",
        yields=table.flag("yields", False),
        controller=table.text(CONTROLLER.get(kind, "controller"), "" if kind == "program" else name),
        summary=table.text("summary", ""),
        source=table.text("source", ""),
        status=status,
        aliases=tuple(table.texts("aliases", [])),
        parameters=parameters,
        transport=dict(table.table("transport").raw),
        application=dict(table.table("application").raw) or dict(GREEDY),
        program=_program(table, kind, status, parameters),
        code=str(full_name(f"{table.source}: `{CODE[kind]}`", folder / table.text(CODE[kind]))) if kind in CODE else "",
        files={str(folder / file): table.table("files").text(file) for file in table.table("files").raw},
        file=table.source,
        folder=str(folder),
    )
    table.finish()
    _check_kind(table, scheme)
    return scheme


def _program(table: TomlTable, kind: str, status: str, parameters: dict[str, str]) -> Program | None:
    """The commands of a program; one that was only imported has none."""
    if kind != "program":
        return None
    if status == "imported" and not table.has("program"):
        return None
    return parse_program(table.table("program"), parameters)


def _check_kind(table: TomlTable, scheme: Scheme) -> None:
    """Refuses what has no meaning for the kind, instead of ignoring it."""
    if scheme.real and scheme.transport:
        known = SYSCTLS if scheme.kind in ("kernel", "bpf") else ()
        if unknown := [key for key in scheme.transport if key not in known]:
            allowed = f"{listed(known)} alone" if known else "none"
            raise table.fail("transport", unknown[0], f"{allowed}: {WHAT[scheme.kind]} brings its own")
    if scheme.kind == "program" and scheme.application != GREEDY:
        raise table.fail("application", "a table", "none: a program decides itself what it sends")
    if scheme.kind in ("kernel", "bpf"):
        if scheme.parameters:
            raise table.fail("parameters", "a table", f"none: {WHAT[scheme.kind]} takes none")
        name = scheme.controller
        if not (0 < len(name) <= MAXIMUM_CONTROLLER_NAME and name.isascii() and name.isprintable() and " " not in name):
            raise table.fail("controller", name, f"1 to {MAXIMUM_CONTROLLER_NAME} letters, digits and signs")
    if scheme.kind == "program" and scheme.controller:
        raise table.fail("controller", scheme.controller, "none: a program has its own")


def _parameters(table: TomlTable) -> dict[str, str]:
    """Parameters as the texts their declarations read; numbers and switches may be written as such."""
    parameters = {}
    for key, value in table.raw.items():
        if isinstance(value, dict | list):
            raise table.fail(key, value, "a number, true, false or a text")
        parameters[key] = parameter_text(value)
    return parameters


def parameter_text(value: object) -> str:
    """A TOML value as the text a parameter is read from."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
