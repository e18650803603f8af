"""Schema of the database in ccperf's terms, its versions, and the upgrade from one to the next."""

import sqlite3
from collections.abc import Collection

from dumbbell.base.clock import now
from dumbbell.base.errors import UserError
from dumbbell.base.version import __version__

SCHEMA_VERSION = 2
"""Value of `PRAGMA user_version`. Version 1, which set none, had the tables runs, metrics and definitions."""
APPLICATION = 0x64756D62
"""`PRAGMA application_id`: the letters "dumb"."""

_OF_SQLITE = frozenset({"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"})
"""Tables that SQLite maintains itself; their text has no effect."""

TABLES = (
    """CREATE TABLE migration (
        version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL, code_version TEXT NOT NULL
    )""",
    # AUTOINCREMENT: a number that was given once is never given to another experiment
    """CREATE TABLE experiment (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT, title TEXT, aut TEXT NOT NULL, path TEXT NOT NULL, run INTEGER NOT NULL,
        parameters_json TEXT NOT NULL, command TEXT, seed INTEGER, run_seed INTEGER,
        stop_time_s REAL, warmup_s REAL, sample_interval_s REAL,
        backend TEXT NOT NULL, code_version TEXT, started_at TEXT, ended_at TEXT,
        status TEXT NOT NULL, reason TEXT, sim_wall_s REAL, events INTEGER,
        results_id TEXT NOT NULL, results TEXT NOT NULL, directory TEXT NOT NULL,
        UNIQUE (results_id, directory)
    )""",
    """CREATE TABLE parameter (
        experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
        name TEXT NOT NULL, value TEXT NOT NULL, number REAL,
        PRIMARY KEY (experiment_id, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE flow (
        experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
        flow_id INTEGER NOT NULL, src TEXT NOT NULL, dst TEXT NOT NULL,
        transport_protocol TEXT, cca TEXT NOT NULL, controller TEXT, cc_recovery_alg TEXT, traffic_model TEXT,
        start_time_s REAL, stop_time_s REAL, base_rtt_s REAL,
        PRIMARY KEY (experiment_id, flow_id)
    ) WITHOUT ROWID""",
    """CREATE TABLE link (
        experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
        link_id INTEGER NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
        bw_bps REAL, delay_s REAL, loss REAL, qlen_pkts INTEGER, qlen_bytes INTEGER, qdisc TEXT,
        PRIMARY KEY (experiment_id, link_id)
    ) WITHOUT ROWID""",
    """CREATE TABLE definition (
        entity_kind TEXT NOT NULL CHECK (entity_kind IN ('flow', 'link', 'network')), name TEXT NOT NULL,
        layer TEXT, sampling TEXT NOT NULL CHECK (sampling IN ('singleton', 'statistical')),
        convention TEXT NOT NULL, unit TEXT NOT NULL, formula TEXT NOT NULL, source TEXT NOT NULL,
        PRIMARY KEY (entity_kind, name)
    ) WITHOUT ROWID""",
    # entity_id counts flows and links from 1 and is 0 for the network. No index by name: every run that is recorded
    # would touch a page per metric for it, to save 0.1 s in a query over 10,000 runs
    """CREATE TABLE metric (
        experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
        entity_kind TEXT NOT NULL, entity_id INTEGER NOT NULL, name TEXT NOT NULL,
        value REAL NOT NULL, sample_interval_s REAL,
        PRIMARY KEY (experiment_id, entity_kind, entity_id, name),
        FOREIGN KEY (entity_kind, name) REFERENCES definition (entity_kind, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE series (
        experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
        entity_kind TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL,
        file TEXT NOT NULL, time_column TEXT NOT NULL, entity_column TEXT NOT NULL, value_column TEXT, filter TEXT,
        PRIMARY KEY (experiment_id, entity_kind, name)
    ) WITHOUT ROWID""",
    "CREATE INDEX experiment_by_name ON experiment (name, aut)",
    "CREATE INDEX parameter_by_name ON parameter (name, value)",
)

SOURCE = """CREATE TABLE source (
    experiment_id INTEGER PRIMARY KEY REFERENCES experiment (id) ON DELETE CASCADE, sha256 TEXT NOT NULL
)"""
"""Table of this user's cache alone: the digests of the files with the numbers."""

_TABLES_OF_VERSION_1 = (
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL, scheme TEXT NOT NULL, run INTEGER NOT NULL, seed INTEGER,
        backend TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, sim_wall_s REAL, directory TEXT NOT NULL,
        UNIQUE (path, scheme, run)
    )""",
    """CREATE TABLE metrics (
        run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        entity TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
        PRIMARY KEY (run_id, entity, number, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE definitions (
        entity TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, convention TEXT NOT NULL,
        formula TEXT NOT NULL, source TEXT NOT NULL,
        PRIMARY KEY (entity, name)
    )""",
    "CREATE INDEX metrics_by_name ON metrics (name, entity, number)",
)

FROM_VERSION_1 = (
    """INSERT INTO experiment (id, aut, path, run, parameters_json, run_seed, backend, status, reason, sim_wall_s,
                               results_id, results, directory)
        SELECT id, scheme, path, run, json_object('aut', scheme, 'path', path), seed, backend, status, reason,
               sim_wall_s, '', '.', directory FROM runs""",
    """INSERT INTO parameter (experiment_id, name, value)
        SELECT id, 'aut', scheme FROM runs UNION ALL SELECT id, 'path', path FROM runs""",
    """INSERT INTO flow (experiment_id, flow_id, src, dst, cca)
        SELECT DISTINCT run_id, number, 'src_' || (number - 1), 'dst_' || (number - 1), scheme
        FROM metrics JOIN runs ON runs.id = run_id WHERE entity = 'flow'""",
    """INSERT INTO link (experiment_id, link_id, name, role)
        SELECT DISTINCT run_id, number, 'link_' || number, CASE number WHEN 1 THEN 'btl_forward' ELSE 'other' END
        FROM metrics WHERE entity = 'link'""",
    """INSERT INTO definition (entity_kind, name, sampling, convention, unit, formula, source)
        SELECT entity, name, 'singleton', convention, unit, formula, source FROM definitions""",
    """INSERT OR IGNORE INTO definition (entity_kind, name, sampling, convention, unit, formula, source)
        SELECT DISTINCT entity, name, 'singleton', '', '', '', '' FROM metrics""",
    """INSERT INTO metric (experiment_id, entity_kind, entity_id, name, value)
        SELECT run_id, entity, number, name, value FROM metrics WHERE value IS NOT NULL""",
    "DROP TABLE metrics",
    "DROP TABLE runs",
    "DROP TABLE definitions",
)

_HEAD = "x.id AS experiment_id, x.name AS experiment, x.aut, x.path, x.run, x.status"
_VIEWS = {
    "flow": (
        "e.flow_id, e.cca, e.src, e.dst, e.transport_protocol, e.start_time_s, e.stop_time_s, e.base_rtt_s",
        "flow e JOIN experiment x ON x.id = e.experiment_id",
        "e.flow_id",
    ),
    "link": (
        "e.link_id, e.name AS link, e.role, e.bw_bps, e.delay_s, e.loss, e.qlen_pkts, e.qdisc",
        "link e JOIN experiment x ON x.id = e.experiment_id",
        "e.link_id",
    ),
    "network": ("x.stop_time_s", "experiment x", "0"),
}
"""Columns before the metrics of each kind, the source of its rows, and the number of the entity."""


def require_ours(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables of a database of dumbbell, of any version; empty for an empty database.

    Raises:
        UserError: The database is of a newer version, or not dumbbell's.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise UserError(
            f"is of schema version {version}, this dumbbell knows versions up to {SCHEMA_VERSION}: "
            "use a newer dumbbell, or another file"
        )
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone()[0]:
        raise UserError("has triggers, which may do anything, for ever: it is not one of dumbbell's: remove it")
    is_new = version == SCHEMA_VERSION and connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
    is_first = version == 0 and tables == {"runs", "metrics", "definitions"}
    if tables and not (is_new or is_first):
        raise UserError("is a database, but not one of dumbbell's: choose another file")
    return tables


def require_nothing_else(connection: sqlite3.Connection) -> None:
    """Require that all tables and indexes are as dumbbell makes them.

    A stranger's table may have conditions, computed columns and indexes that take for ever when a row is written.

    Raises:
        UserError: A table or an index differs.
    """
    statements = {_without_spaces(statement) for statement in (*TABLES, SOURCE, *_TABLES_OF_VERSION_1)}
    stored_statements = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql NOT NULL"
    )
    for name, statement in stored_statements:
        if name not in _OF_SQLITE and _without_spaces(statement) not in statements:
            raise UserError(
                f"has `{name}`, which is not as dumbbell makes it: choose another file, and keep tables and indexes"
                " of your own in a file beside it (SQLite's ATTACH)"
            )


def _without_spaces(statement: str) -> str:
    return "".join(statement.split())


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring the open database to this version; the caller has a transaction open.

    Raises:
        UserError: `require_ours` refuses the database; or a table or an index is not as dumbbell makes it.
    """
    tables = require_ours(connection)
    require_nothing_else(connection)
    if tables and connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION:
        return
    for statement in (*TABLES, *(FROM_VERSION_1 if tables else ())):
        connection.execute(statement)
    insert = "INSERT INTO migration VALUES (?, ?, ?)"
    connection.execute(insert, (SCHEMA_VERSION, now(), __version__))
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def views(definitions: Collection[tuple[str, str]]) -> dict[str, str]:
    """Return the views with a column per metric, and the long one; `definitions` are kinds and names.

    The views depend on the set of metrics, and are made anew if it changes.
    """
    statements = {
        "metric_described": """CREATE VIEW metric_described AS
SELECT m.experiment_id, x.name AS experiment, x.aut, x.path, x.run, x.status, m.entity_kind,
       CASE m.entity_kind WHEN 'network' THEN 'net' ELSE m.entity_kind || '_' || m.entity_id END AS entity,
       m.name, m.value, d.unit, d.layer, d.sampling, d.convention, m.sample_interval_s
FROM metric m JOIN experiment x ON x.id = m.experiment_id
JOIN definition d ON d.entity_kind = m.entity_kind AND d.name = m.name"""
    }
    for kind, (entity_columns, source, entity) in _VIEWS.items():
        # one look-up for each requested column, and each keeps the type of `value`
        columns = "".join(
            f",\n       (SELECT value FROM metric m WHERE m.experiment_id = x.id AND m.entity_kind = '{kind}'"
            f" AND m.entity_id = {entity} AND m.name = {sql_text(name)}) AS {_name(name)}"
            for owner, name in sorted(definitions)
            if owner == kind
        )
        statements[f"{kind}_metrics"] = (
            f"CREATE VIEW {kind}_metrics AS\nSELECT {_HEAD}, {entity_columns}{columns}\nFROM {source}"
        )
    return statements


def sql_text(name: str) -> str:
    """Return a name as a string in SQL."""
    return "'" + name.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
