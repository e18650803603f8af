"""The Rust core. Tables go in and come out as JSON, time series as flat arrays of numbers in native byte order."""

class Error(ValueError):
    """Something the core refuses; the message is one line."""

def version() -> str:
    """The version of the core."""

def controllers() -> str:
    """JSON: every controller with `name`, `summary` and `parameters`.

    A parameter has `name`, `unit`, `kind` (number, integer, flag, choice), `min`, `max`, `choices`, `default`, `help`.
    """

def check_parameters(controller: str, parameters: dict[str, str]) -> None:
    """Refuses parameters that `controller` does not have or whose values are not allowed."""

def check_application(table: str) -> None:
    """Refuses an application (JSON) whose kind, keys or values are not allowed."""

def transport(table: str) -> str:
    """JSON: the complete configuration that a transport table (JSON) stands for."""

def metrics() -> str:
    """JSON: every metric with `name`, `unit`, `convention`, `level`, `formula`, `source`, `sampled`.

    `sampled` says whether it is computed from values per sample interval (`network.sample_interval_s`).
    """

def labels() -> str:
    """JSON: the keys of statistics that are no metrics, with `name`, `level`, `meaning`."""

def check_path(table: str) -> None:
    """Refuses a path (JSON) that cannot be built."""

def opportunities(table: str, direction: str, seed: int, seconds: float) -> list[int]:
    """When a direction (`data` or `ack`) of a path (JSON) has opportunities, ns: those of a run with this seed."""

def parse_trace(text: str) -> list[int]:
    """Times of the opportunities in ms of a trace in mahimahi's format; refusals name the line."""

def check_run(specification: str, backend: str = "sim") -> None:
    """Refuses the specification of a run (JSON) that `backend` (`sim` or `emu`) cannot execute."""

def simulate(specification: str, directory: str | None = None) -> str:
    """Executes a run; returns its statistics as JSON.

    With a directory, `packets.parquet`, `flows.parquet` and `links.parquet` are written there. Ctrl-C ends it with
    `KeyboardInterrupt`. The interpreter lock is released.
    """

def emulate(specification: str, directory: str) -> str:
    """Executes a run with real packets in real time; returns its statistics as JSON, as `simulate`.

    Their `emulation` says how faithful the run was: `lateness_us` (`p50`, `p99`, `p999`, `max`), `tx_dropped`, and
    `degraded` and `invalid`, which are null or a reason. The reason of an error ends with a program's last lines.
    """

def emulate_shell(specification: str) -> int:
    """Runs a command behind an emulated path; returns its exit status.

    The specification is JSON: `seed`, `path`, `command` and `server` (lists of words; `server` may be null), `log` (a
    file for the packet log, or null) and `quiet`.
    """

def check_emulation() -> str:
    """JSON: what emulation needs here, a list of `name`, `good`, `found` and `fix`."""

def enter_user_namespace() -> None:
    """Makes this process the root of a user namespace of its own. It must have one thread only."""

def clean_up() -> int:
    """Ends what earlier runs left behind that were killed; returns how many processes that were."""

def measure_log(packets: str, options: str) -> str:
    """JSON: all metrics of a packet log (`flows`, `links`, `network`).

    Options (JSON): `duration_s`, `warmup_s`, `bin_s`, `flows` (each `flow`, `scheme`, `start_s`, `stop_s`), and
    `stated` of logs that are a sender's view: the samples (`flows.parquet`) that it stated; all optional.
    """

def series(packets: str, bin_s: float = 0.5) -> str:
    """JSON: rates over time of a packet log.

    `bin_s`, `start_s`, `capacity_mbps`, and `flows` with `flow`, `ingress_mbps`, `egress_mbps` each.
    """

def transfers(packets: str, options: str) -> str:
    """JSON: what the flows of a packet log transferred per interval, at both ends, as iperf reports it.

    Options (JSON): `interval_s`, and optional `duration_s` and `flows`, as in `measure_log`. The result has
    `interval_s`, `payload` and `rows`; a row has `view` (`client` or `server`), `flow` (null: the sum of all), `total`,
    `start_s`, `end_s`, `bytes`, `kbytes` and `kbytes_per_s` (1,024 bytes).
    """

def delay_points(packets: str, direction: str, max_points: int) -> tuple[bytes, bytes, bytes]:
    """One-way delays in `direction` (`data` or `ack`): flows (uint32), times in s and delays in ms (float64).

    At most `max_points`, evenly chosen from all deliveries in time order. Times count from the start of the run.
    """

def samples(file: str) -> list[tuple[str, str, str, bytes, bytes]]:
    """The time series of a `flows.parquet` or `links.parquet`: key, field, unit, times in s and values (float64)."""

def import_merged_log(data: str, ack: str | None, packets: str) -> str:
    """Imports Pantheon's merged logs into a packet log; JSON with `records`, `init_us`, `last_s`, `unusable`.

    `unusable` is null, or why the logs as a whole hold nothing (empty, or the mark of a failed run); a malformed line
    is an error that names file and line. Nothing is left behind in either case.
    """

def import_mahimahi(data: str, ack: str | None, packets: str) -> str:
    """Imports mm-link logs into a packet log; as `import_merged_log`."""

def import_raw_logs(
    data: list[tuple[str, str]], ack: list[tuple[str, str]], offsets_ms: tuple[float, float], packets: str
) -> str:
    """Imports the raw tunnel logs of a run, (egress, ingress) per flow; as `import_merged_log`.

    `offsets_ms` are the clock offsets of the data sender's and of the receiver's host. `ack` may be empty.
    """

def export_pantheon(packets: str, data: str, ack: str, init_us: int) -> None:
    """Writes a packet log as Pantheon's merged logs of both directions; time 0 is `init_us` after 1970."""

def export_qlog(packets: str, samples: str | None, out: str, flow: int, draft: str, trace: str) -> int:
    """Writes one flow of a run as a qlog text sequence; returns the number of events.

    `samples` is its `flows.parquet`, if there is one, `draft` is `0.3` or `quic-13`, and `trace` is JSON: `title`,
    `description` and `name`.
    """

def import_qlog(file: str, directory: str) -> str:
    """Imports every trace of a qlog file into `directory`/1, 2, ...: `packets.parquet` and `flows.parquet`.

    JSON: a list with `title`, `events`, `sent`, `acked`, `lost`, `other_spaces`, `metrics` and `last_s` of each.
    """

def bootstrap_interval(values: list[float], level: float) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean, with a fixed seed: equal values give equal intervals."""

def jain_index(rates: list[list[float]]) -> list[float | None]:
    """Jain's index of each list of rates; None where nothing moved."""

def harm(solo: float, with_competitor: float, more_is_better: bool) -> float | None:
    """Harm (Ware et al. 2019): the fraction of a victim's performance that a competitor takes; negative is a gain.

    None where it is not defined: of negative values, and of nothing.
    """
