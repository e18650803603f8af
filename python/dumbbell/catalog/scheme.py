"""Schemes: a congestion controller, or a program with one, and the settings for running, showing and drawing it."""

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
"""Families of schemes, whose controllers use one signal or come from one design, and their names for people."""
STATUSES = ("verified", "experimental", "imported")
SYSCTLS = ("tcp_rmem", "tcp_wmem")  # socket buffers in the namespaces of kernel schemes
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
"""Keys for the file of an external controller."""

CONTROLLER = {"python": "class"}
"""Key for the name of the controller, for kinds whose key is not `controller`."""


TRANSPORTS = ("tcp", "quic")
"""Transports with different rules: TCP has a retransmission timeout, QUIC persistent congestion."""


def transports_of(profile: object) -> tuple[str, ...]:
    """Return the transports whose rules apply to a profile of the built-in transport."""
    return ("quic",) if profile in ("quic", "datagram") else ("tcp",)


GREEDY: Application = {"kind": "greedy"}
"""Default application of schemes. Programs count as this application, too."""


@dataclass(frozen=True)
class Scheme:
    """A congestion controller, with its parameters, its transport, and its style in figures.

    `kind` is the place of the controller: the core, a library (`plugin`), a class in Python, the kernel, BPF code that
    is loaded into the kernel, or a program. `code` is the absolute name of the library or of the file with the class.
    `files` has the SHA-256 of every file that the scheme depends on, by absolute name, once the scheme is part of a
    run. `application` is the default application of its flows: media schemes have an encoder.
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
    """Key of `FAMILIES`; empty if unknown. Results do not contain it: they look up the scheme's name."""
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
    """Source of the scheme for messages: its file, or the option that changed it."""
    origin: str = field(default="", compare=False)
    """Original file of the scheme, if `file` is an option."""
    folder: str = field(default="", compare=False)
    """Folder for relative names of files in the parameters."""
    assigned_parameters: frozenset[str] = field(default=frozenset(), compare=False)
    """Parameters that the command line sets."""

    def __post_init__(self) -> None:
        require_names("scheme", (self.name, *self.aliases), self.file)

    @property
    def real(self) -> bool:
        """True if the scheme needs real packets."""
        return self.kind != "core" and not self.is_outside

    @property
    def is_outside(self) -> bool:
        """True if the controller is an external library or class."""
        return self.kind in ("plugin", "python")

    @property
    def transports(self) -> tuple[str, ...]:
        """Transports whose rules apply to the scheme. A program has both, since its transport is unknown."""
        return TRANSPORTS if self.kind == "program" else transports_of(self.transport.get("profile"))

    @property
    def transport_text(self) -> str:
        """The transport in words, `quic, ack_every 10`; empty for a scheme with its own transport."""
        if self.real:
            return ""
        settings = [f"{key} {value}" for key, value in sorted(self.transport.items()) if key != "profile"]
        return ", ".join([str(self.transport.get("profile", TRANSPORTS[0])), *settings])

    @property
    def is_traffic(self) -> bool:
        """True if the scheme has no congestion control: background traffic for other schemes."""
        return self.controller == "unresponsive"

    def table(self) -> dict[str, object]:
        """Return the table `[scheme.NAME]` of an experiment file."""
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
        """Return the content of a scheme file. Reading it gives an equal scheme."""
        return to_toml({"name": self.name, "aliases": list(self.aliases)} | self.table())

    @classmethod
    def from_toml(cls, text: str) -> "Scheme":
        """Return a scheme from the content of its file.

        Raises:
            UserError: If a key or value is not allowed.
        """
        return parse_scheme(parse_toml(text, "TOML"))


def parse_scheme(table: TomlTable, name: str | None = None) -> Scheme:
    """Return a scheme from its table; `name` for a scheme inside an experiment file."""
    if name is None:
        name = read_name(table)
    kinds = [kind_ for kind_, key in CODE.items() if table.has(key)]
    kind = table.text("kind", kinds[0] if kinds else "core", KINDS)
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
    """Return the commands of a program; None for a scheme with imported results only."""
    if kind != "program":
        return None
    if status == "imported" and not table.has("program"):
        return None
    return parse_program(table.table("program"), parameters)


def _check_kind(table: TomlTable, scheme: Scheme) -> None:
    """Raise an error for keys that have no meaning for the kind, instead of ignoring them."""
    if scheme.real and scheme.transport:
        allowed_keys = SYSCTLS if scheme.kind in ("kernel", "bpf") else ()
        if unknown := [key for key in scheme.transport if key not in allowed_keys]:
            rule = f"{listed(allowed_keys)} alone" if allowed_keys else "none"
            raise table.fail("transport", unknown[0], f"{rule}: {WHAT[scheme.kind]} brings its own")
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
    """Return parameters as strings for their declarations. A file may contain numbers and switches."""
    parameters = {}
    for key, value in table.raw.items():
        if isinstance(value, dict | list):
            raise table.fail(key, value, "a number, true, false or a text")
        parameters[key] = parameter_text(value)
    return parameters


def parameter_text(value: object) -> str:
    """Return a TOML value as the string from which a parameter is read."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
