"""The Rust core. Tables go in and come out as JSON, time series as flat arrays of numbers in native byte order."""

from collections.abc import Callable
from os import PathLike

from dumbbell.base.entry import Entry

class Error(ValueError):
    """Something the core refuses; the message is one line."""

class DamagedLog(Error):
    """A log that is cut off, malformed, or not of its format."""

def version() -> str:
    """The version of the core."""

def commit() -> str | None:
    """The commit that the core was built from (`DUMBBELL_COMMIT` at build time), with a `+` if files had changed."""

def is_name(text: str) -> bool:
    """Whether a text is a name of a scheme, path, experiment or cell."""

def name_rule() -> str:
    """What a name is, as the end of a refusal."""

class ArrayView:
    """Numbers of environments, as what numpy makes an array of in place."""

    __array_interface__: dict[str, object]

class Environments:
    """Many environments of one task (JSON), stepped side by side."""

    inputs: int
    outputs: int

    def __init__(
        self, task: str, count: int, threads: int, autoreset: str = "next-step", keeps: bool = False
    ) -> None: ...
    def reset(self, seeds: list[int | None], mask: list[bool] | None = None) -> None:
        """Begins episodes of all environments, or of those that `mask` says."""

    def step(self) -> None:
        """One step of every environment, with what is in `actions`."""

    def array(self, name: str) -> ArrayView:
        """One of the arrays; its memory never moves."""

    def drawn(self, index: int) -> tuple[int, str]:
        """The seed of the run of an environment's episode, and JSON: what was drawn for it."""

    def record(self, index: int, sample_interval_s: float = 0.1) -> tuple[str, str, Table, Table, Table]:
        """An environment's episode up to now: specification, statistics (JSON), packets, samples."""

def environment_fields() -> str:
    """JSON: what environments tell: `fields` (name, unit, meaning), `oracle`, `rewards`, `sights`, `agents`."""

def controllers() -> str:
    """JSON: every controller with `name`, `summary` and `parameters`.

    A parameter has `name`, `unit`, `kind` (number, integer, flag, choice, file), `min`, `max`, `choices`, `default`,
    `help`.
    """

def run_schema() -> str:
    """JSON Schema (draft-07) of a run specification."""

def statistics_schema() -> str:
    """Return the JSON Schema (draft-07) of statistics: `definitions`, of which each backend's run is one."""

def needed_files() -> dict[str, list[str]]: ...
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

class RemoteEndpoint:
    """This machine's side of a run between two. Requests and answers are JSON."""

    def open(self, request: str) -> str:
        """Opens sockets; their ports."""

    def meet(self, request: str) -> str:
        """Finds the other side."""

    def ask(self, seconds: float, per_s: float) -> str:
        """Asks the other side for the time; the exchanges."""

    def probe(self, request: str) -> str:
        """Sends bursts of packets and listens to those of the other side; what was sent and what came."""

    def run(self, specification: str, part: str, ready: Callable[[], int], live: str | None = None) -> None:
        """Does this side's part; `ready` says when to begin, ns of this machine's clock.

        `live` is a file that shows how it goes, for as long as it does.
        """

    def finish(self) -> bytes:
        """What this side knows of its run."""

    def stop(self) -> None:
        """Ends whatever goes on."""

class EmulationLock:
    """The emulation lock of this machine, held for as long as the object lives."""

def take_emulation_lock(within_s: float, stopped: Callable[[], bool], waits: Callable[..., None]) -> EmulationLock:
    """Waits for the lock, so long at most, or until `stopped()`.

    `waits` is told who has it: `waits(process, since_s)`, or nothing where that is not known.
    """

def join_sides(
    specification: str,
    local_sends: bool,
    local: bytes,
    remote: bytes,
    max_report_bytes: int,
    references: str = "[]",
    directory: str | PathLike[str] | None = None,
) -> str:
    """Makes one run of what its two sides report; statistics as JSON."""

def clock_offset(exchanges: str, machine: str) -> tuple[int, int]:
    """How far the other clock is ahead by the exchange with the shortest round trip, and that round trip, ns.

    Exchanges in which `machine` states times that cannot be do not count.
    """

def round_trips(exchanges: str, machine: str) -> list[int]:
    """Round trips, ns, in the order of the exchanges with `machine`, without those by times that cannot be."""

def clock_ns() -> int:
    """The clock that sides go by, ns."""

def distort_clock(text: str) -> None:
    """Makes the clock of this process wrong: `offset=37ms,drift=100ppm,step=+20ms@5s`."""

def check_path(table: str) -> None:
    """Refuses a path (JSON) that cannot be built."""

def describe_path(table: str) -> str:
    """What a path (JSON) is, as JSON.

    Its keys: `base_rtt_ms`, `base_rtts_ms`, `rates_mbps`, `losses`, `delays`, `links`, `bottleneck`. Over
    time: a list of pairs of seconds and values, or null.
    """

def opportunities(table: str, direction: str, seed: int, seconds: float) -> list[int]:
    """When a direction (`data` or `ack`) of a path (JSON) has opportunities, ns: those of a run with this seed."""

def parse_trace(text: str) -> list[int]:
    """Times of the opportunities in ms of a trace in mahimahi's format; refusals name the line."""

def check_run(specification: str, backend: str = "sim") -> None:
    """Refuses the specification of a run (JSON) that `backend` (`sim` or `emu`) cannot execute."""

OnProgress = Callable[[str, bytes | None], object]
"""Called with where a training stands and, now and then, with what was learned so far."""

def trainers() -> list[str]:
    """The names of all trainers of the core."""

def train_controller(
    name: str, settings: str, seed: int, jobs: int, seconds: float, start: bytes | None, told: OnProgress
) -> bytes:
    """Trains with settings (JSON) until `seconds` are over; returns the file that was learned.

    `start` is such a file to go on from. What `told` raises ends the training, and so does Ctrl-C, with
    `KeyboardInterrupt`. The interpreter lock is released meanwhile.
    """

Watch = Callable[[float, dict[int, dict[str, float]], dict[str, dict[str, float]]], object]
"""Told what a run looks like: the time in s, and the values of flows and of links, each by field."""

def simulate(specification: str, directory: str | None = None, watch: Watch | None = None) -> str:
    """Executes a run; returns its statistics as JSON.

    With a directory, `packets.parquet`, `flows.parquet` and `links.parquet` are written there. `watch` is called at the
    end of every sample interval; what it raises ends the run, and so does Ctrl-C, with `KeyboardInterrupt`. The
    interpreter lock is released meanwhile.
    """

def controller_cost(specification: str) -> str:
    """Measures what the controller of the first flow of a run costs; returns the figures as JSON."""

def controllers_beside(candidate: str, baseline: str) -> str:
    """Measures the controllers of the first flows of two runs in turn; returns what each cost in blocks as JSON."""

def describe_script(text: str) -> str:
    """Reads a script; returns what it drives, its title, its controller and the parameters of that as JSON."""

def run_script(text: str, specification: str | None = None, steps: bool = False) -> str:
    """Runs a script; returns its conditions and what was found, and every event with `steps`, as JSON.

    The controller is the script's own, or that of the first flow of a run, `specification`.
    """

def record_script(specification: str, head: str) -> str:
    """Simulates a run of one flow; returns what its controller was told and answered as a script.

    The header of the script begins with the lines `head`.
    """

def simulate_in_memory(specification: str, watch: Watch | None = None) -> tuple[str, Table | None, Table, Table]:
    """Executes a run without files, else as `simulate`.

    Its statistics as JSON, its packet log (None if it keeps none), and the samples of flows and of links.
    """

def emulate(
    specification: str,
    directory: str | None = None,
    waits: Callable[..., object] | None = None,
    live: tuple[str, int] | None = None,
) -> str:
    """Executes a run with real packets in real time; returns its statistics as JSON, as `simulate`.

    One run at a time on a machine. `waits` is called with True, the process that it waits for and since when that has
    been running (seconds since 1970), or True alone where that is not known, whenever it is another one; and with False
    when it waits no longer. `live` is a file that shows how the run goes, for as long as it does, and which attempt at
    the run it is.

    Their `emulation` says how faithful the run was: `lateness_us` (`p50`, `p99`, `p999`, `max`), `tx_dropped`, and
    `degraded` and `invalid`, which are null or a reason. The reason of an error ends with a program's last lines.
    """

def emulate_shell(specification: str) -> int:
    """Runs a command behind an emulated path; returns its exit status.

    The specification is JSON: `seed`, `path`, `command` and `server` (lists of words; `server` may be null),
    `interactive` (whether somebody types at the command), `log` (a file for the packet log, or null), `quiet`,
    `live` (a file that shows how it goes, or null) and `watched` (whether the caller tells statistics from that).
    """

def check_emulation() -> str:
    """JSON: what emulation needs here, a list of `name`, `good`, `found` and `fix`."""

def enter_user_namespace() -> None:
    """Makes this process the root of a user namespace of its own. It must have one thread only."""

def clean_up() -> None:
    """Removes the private directories that runs which were killed have left behind."""

def measure_log(packets: Log | None, options: str) -> str:
    """JSON: all metrics of a log (`flows`, `links`, `network`); without `packets`, of what is stated alone.

    Options (JSON), all optional: `duration_s`, `warmup_s`, `bin_s`, `flows` (each `flow`, `scheme`, `start_s`,
    `stop_s`), `stated` of logs that are a sender's view: the samples (`flows.parquet`) that it stated, `log_zero_ns` of
    logs from elsewhere: where their own zero is, and `tells`, what the records tell: `sendings`, `arrivals`, `marks`,
    `flows` (true or false) and `delay` (`one-way`, `above-smallest`, `round-trip`, `unknown`); the rest is null.
    """

class Table:
    """Columns of the same length, which others read in place through Arrow's PyCapsule protocol."""

    def __init__(self, columns: list[tuple[str, str, list[object]]]) -> None:
        """Name, kind (`text`, `integer`, `number`) and values of each column; None is no value."""

    def __len__(self) -> int: ...
    def names(self) -> list[str]:
        """The names of the columns, in order."""

    def column(self, name: str) -> View:
        """A column as what numpy makes an array of without copying."""

    def dictionary(self, name: str) -> list[str] | None:
        """The texts that the numbers of a column stand for; None of columns that are numbers."""

    def gaps(self, name: str) -> list[bool] | None:
        """Which rows have no value; None of a column that is complete."""

    def rows_with(self, name: str, value: int) -> Table:
        """The rows in which a column of flows or codes has this value."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class View:
    """One column, for numpy."""

    @property
    def __array_interface__(self) -> dict[str, object]: ...

Log = str | PathLike[str] | Entry
"""A file with packets or samples."""
Source = Table | Log
"""A packet log or samples: a table in memory, or a file."""

def read_packets(file: Log) -> Table:
    """The packet log: `time_ns`, `flow`, `event`, `seq`, `size_bytes`, `data_bytes`, `one_way_delay_ns`."""

def read_samples(file: Log) -> Table:
    """The rows of a `flows.parquet` or `links.parquet`: `time_ns`, `flow` or `link`, `field`, `unit`, `value`."""

def series(packets: Source, bin_s: float = 0.5) -> str:
    """JSON: rates over time of a packet log.

    `bin_s`, `start_s`, `capacity_mbps`, and `flows` with `flow`, `ingress_mbps`, `egress_mbps` each; `delay_range_ms`,
    the least and the largest one-way delay of the data packets that arrived, null if none did.
    """

def jain_series(packets: Source, options: str) -> str:
    """JSON: Jain's index of a packet log in windows of time.

    Options: `window_s`, `rule` (`seen_in_bucket` or `scheduled_active`), `duration_s` and `flows` as for `transfers`.
    In the answer `window_s`, `rule`, and by window that has an index `time_s` (its end) and `index`.
    """

def transfers(packets: Source, options: str) -> str:
    """JSON: what the flows of a packet log transferred per interval, at both ends, as iperf reports it.

    Options (JSON): `interval_s`, and optional `duration_s` and `flows`, as in `measure_log`. The result has
    `interval_s`, `payload` and `rows`; a row has `view` (`client` or `server`), `flow` (null: the sum of all), `total`,
    `start_s`, `end_s`, `bytes`, `kbytes` and `kbytes_per_s` (1,024 bytes).
    """

def delay_points(packets: Source, direction: str, all_up_to: int) -> tuple[bytes, bytes, bytes]:
    """One-way delays in `direction` (`data` or `ack`): flows (uint32), times in s and delays in ms (float64).

    Of more than `all_up_to` only those that can be told apart in a figure: a few million, however long the log is.
    Times count from the start of the run.
    """

def delay_steps(packets: Source, most: int) -> list[tuple[int, bytes, bytes]]:
    """Return for each flow the distribution of the one-way delays of its data packets that arrived.

    The delays in ms at which it rises, in whole µs, and how many packets took at most that (float64): about `most` of
    them, evenly spread over the packets.

    Raises:
        Error: the log is damaged, or its delays differ so much that they take more than 1 GiB of memory.
    """

def samples(samples: Source) -> list[tuple[str, str, str, bytes, bytes]]:
    """Return the time series of samples of flows or links: key, field, unit, times in s and values (float64).

    Of more than four million points in all, the lowest and the highest of each four in a row.

    Raises:
        Error: the file is damaged, or has too many series.
    """

def import_merged_log(data: str, ack: str | None, packets: str, strict: bool) -> str:
    """Imports Pantheon's merged logs, which may be compressed, into a packet log.

    JSON with `records`, `init_us`, `log_zero_ns` (the data log's own zero on the time axis), `last_s`, `flows` (numbers
    in the data direction), `oddities` (what is unusual, as `FILE:LINE: WHAT`) and `unusable`: null, or why the logs
    cannot be used. Strictly read, only logs without anything in them (the mark of a failed run) are unusable; all else
    is an error. Nothing is left behind in either case.
    """

def import_mahimahi(data: str, ack: str | None, packets: str, strict: bool) -> str:
    """Imports mm-link logs into a packet log; as `import_merged_log`."""

def import_raw_logs(
    data: list[tuple[str, str]], ack: list[tuple[str, str]], offsets_ms: tuple[float, float], packets: str, strict: bool
) -> str:
    """Imports the raw tunnel logs of a run, (egress, ingress) per flow; as `import_merged_log`.

    `offsets_ms` are the clock offsets of the data sender's and of the receiver's host. `ack` may be empty.
    """

def read_compressed(file: str, most: int) -> bytes:
    """Return the bytes of a file, which may be compressed (gzip, bzip2, xz, Zstandard).

    Raises:
        Error: they are more than `most`, or the file cannot be read.
    """

def read_head(file: str, most: int) -> bytes:
    """Return the first bytes of a file, which may be compressed; at most `most`."""

def export_pantheon(packets: Log, data: str, ack: str, init_us: int) -> None:
    """Writes a packet log as Pantheon's merged logs of both directions; time 0 is `init_us` after 1970."""

def import_capture(file: str, receiver: str | None, end: str | None, clocks: str, directory: str) -> str:
    """JSON: what packet captures held: a list, each in a directory `name` below `directory` with its files.

    `receiver` is the capture of the other end; `end` is `sender`, `receiver` or null (found out), `clocks` is `auto`,
    `stamps` or `unknown`.
    """

def write_samples(file: str, rows: list[tuple[int, int, str, str, float]]) -> None:
    """Writes samples of flows: time in ns, number of the flow, field, unit, value; in order of time."""

def export_qlog(
    packets: Log,
    samples: Log | None,
    out: str,
    flow: int,
    draft: str,
    trace: str,
    from_ns: int = 0,
    to_ns: int | None = None,
) -> int:
    """Writes one flow of a run as a qlog text sequence; returns the number of events.

    `samples` is its `flows.parquet`, if there is one, `draft` is `0.3` or `quic-13`, and `trace` is JSON: `title`,
    `description` and `name`. Events are those from `from_ns` until before `to_ns`, after the state at `from_ns`.

    Raises:
        DamagedLog: a log of the run cannot be read.
        Error: something is not allowed, or the file cannot be written.
    """

def import_qlog(file: str, directory: str) -> str:
    """Imports every trace of a qlog file into `directory`/1, 2, ...: `packets.parquet` and `flows.parquet`.

    JSON: a list with `title`, `events`, `sent`, `acked`, `lost`, `other_spaces`, `metrics` and `last_s` of each.
    """

def confidence_interval(values: list[float], level: float, fraction: bool = False) -> tuple[float, float] | None:
    """The interval of the mean; None of fewer than five values, or if they do not differ.

    That of fractions of a whole does not reach beyond it.
    """

def difference(
    first: list[float], second: list[float], paired: bool, level: float
) -> tuple[float, float, float, float] | None:
    """Low and high end of the second mean less the first, the probability of no difference, and what would be shown.

    The last is the difference that as many values with as much scatter show in 80 of 100 cases. None as above.
    """

def critical_values(level: float, max_tests: int) -> str:
    """JSON: critical values of Student's t for up to `max_tests` tests at once, as nodes of an interpolation.

    Raises:
        Error: `level` is not between 0 and 1.
    """

def holm(probabilities: list[float]) -> list[float]:
    """Probabilities of tests made at once, adjusted for their number."""

def normalised(flows: str, legacy: bool, most_mbps: float = 120.0) -> str:
    """JSON: for each scheme `throughput` as a share of the largest in its experiment, and `queueing_delay_ms`.

    A flow of `flows` has `experiment`, `scheme`, `throughput_mbps`, `queueing_delay_ms` and `owd_min_ms`; those of
    `most_mbps` or more are left out. `legacy`: with the published denominators.
    """

def jain_index(rates: list[list[float]]) -> list[float | None]:
    """Jain's index of each list of rates; None where nothing moved."""

def harm(solo: float, with_competitor: float, more_is_better: bool) -> float | None:
    """Harm (Ware et al. 2019): the fraction of a victim's performance that a competitor takes; negative is a gain.

    None where it is not defined: of negative values, and of nothing.
    """

def describe_plugin(file: str, sha256: str) -> str:
    """JSON: the controllers of a library, or of a file with classes in Python.

    The file must hold the code with this SHA-256. Each has `name`, `summary`, `parameters` (as those
    of `controllers`), `fields` and `hears_ecn`. The code runs in this process: ask in one that may end.
    """

def log_to(descriptor: int | None, levels: list[tuple[str, str]] = ..., before: str = "") -> None:
    """Writes events of this thread, and of threads that Rust starts, to `descriptor` from now on; `None` ends that.

    `levels` are names of loggers, the empty one for all, and the most detailed level of each. `before` begins a line.
    """

def guard_process(file: str) -> None:
    """From now on a plug-in that ends this process, or does not answer within 5 s, leaves a line about it in `file`.

    One that does not answer ends the process, with status 70. A flow's state may take 60 s to be made.
    """

class Start:
    """What a controller is given when its flow begins."""

    @property
    def now_s(self) -> float:
        """The flow's start, s since the start of the run."""

    @property
    def mss_bytes(self) -> int:
        """Payload of a full packet, bytes, without headers: what it counts in every window and rate."""

    @property
    def initial_window_bytes(self) -> int:
        """The transport's initial window, payload bytes."""

    @property
    def seed(self) -> int:
        """For whatever is drawn at random."""

class Packet:
    """One packet that was acknowledged or lost."""

    @property
    def number(self) -> int:
        """Grows by one with every transmission, never used twice."""

    @property
    def bytes(self) -> int:
        """Payload bytes, without headers: what window and pacing count for it."""

    @property
    def sent_at_s(self) -> float:
        """On the sender's clock."""

    @property
    def received_at_s(self) -> float:
        """On the receiver's clock; without meaning in a loss."""

    @property
    def one_way_delay_s(self) -> float:
        """With the unknown offset of the clocks in it: only differences mean anything."""

    @property
    def lost_at_send_bytes(self) -> int:
        """Payload lost on the connection, in all, when it was sent."""

    @property
    def in_flight_at_send_bytes(self) -> int:
        """Payload in flight just after it was sent."""

    @property
    def retransmission(self) -> bool:
        """Whether it carried data that was sent before."""

    @property
    def was_lost(self) -> bool:
        """Whether it had been declared lost: a spurious loss."""

    @property
    def ce(self) -> bool:
        """Whether it arrived marked with CE; False also if the ACK that listed it was lost."""

class RateSample:
    """A delivery rate sample."""

    @property
    def bps(self) -> int:
        """Payload bits per second."""

    @property
    def delivered_bytes(self) -> int:
        """Payload delivered over the interval."""

    @property
    def interval_s(self) -> float:
        """The longer of the send and the ACK interval."""

    @property
    def prior_delivered_bytes(self) -> int:
        """Payload delivered in all when the newest packet was sent."""

    @property
    def lost_bytes(self) -> int:
        """Payload lost over the interval."""

    @property
    def in_flight_at_send_bytes(self) -> int:
        """Payload in flight just after the newest packet was sent."""

    @property
    def app_limited(self) -> bool:
        """Whether it was taken while the application limited the sender."""

class Ack:
    """At least one packet was newly acknowledged. Every count of bytes is of payload, without headers."""

    @property
    def now_s(self) -> float:
        """Now, s since the start of the run."""

    @property
    def packets(self) -> list[Packet]:
        """Newly acknowledged packets, in ascending order."""

    @property
    def acked_bytes(self) -> int:
        """Sum of the packets' payload, selectively acknowledged and sent again included."""

    @property
    def growth_bytes(self) -> int:
        """Payload by which a window grows: `acked_bytes`, or as far as the stream is complete."""

    @property
    def lost_bytes(self) -> int:
        """Payload declared lost by this ACK; `on_loss` has been called."""

    @property
    def rtt_s(self) -> float | None:
        """RTT of the newest packet; None without a sample."""

    @property
    def srtt_s(self) -> float:
        """Smoothed RTT (RFC 6298)."""

    @property
    def rttvar_s(self) -> float:
        """RTT variation."""

    @property
    def min_rtt_s(self) -> float:
        """Smallest RTT of the connection's life."""

    @property
    def ack_delay_s(self) -> float:
        """So long the receiver says to have held the ACK."""

    @property
    def in_flight_before_bytes(self) -> int:
        """Payload in flight before this ACK."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight now: sent, neither acknowledged nor declared lost."""

    @property
    def peak_in_flight_bytes(self) -> int:
        """Most payload in flight at any moment since the start of the previous round trip."""

    @property
    def window_limited(self) -> bool:
        """Whether the window limited sending since the previous round trip."""

    @property
    def pacing_limited(self) -> bool:
        """Whether the pacer kept packets back since the previous round trip that would have filled the window."""

    @property
    def app_limited(self) -> bool:
        """Whether the application had nothing to send, and what was in flight then has not arrived."""

    @property
    def delivered_bytes(self) -> int:
        """Payload delivered on the connection, in all; each transmission that arrived counts."""

    @property
    def rate(self) -> RateSample | None:
        """Delivery rate sample, if there is one."""

    @property
    def round_start(self) -> bool:
        """Whether a round trip ended with this ACK."""

    @property
    def in_recovery(self) -> bool:
        """Whether an episode goes on that a loss or a mark began; False after a timeout.

        The transport reduces nothing of the controller's window meanwhile.
        """

    @property
    def next_number(self) -> int:
        """Number of the next transmission."""

    @property
    def queued_bytes(self) -> int | None:
        """Payload written by the application and not sent; None if it always has more."""

    @property
    def queue_delay_s(self) -> float:
        """So long the oldest frame of a live source has waited."""

    @property
    def complete_bytes(self) -> int:
        """The receiver has the stream up to here: TCP's cumulative acknowledgement; 0 where nothing is sent again."""

    @property
    def sent_bytes(self) -> int:
        """The stream was sent up to here; what is sent again does not count twice."""

    def may_grow(self, window_bytes: float, in_slow_start: bool) -> bool:
        """Whether a window may grow: it limited sending, or, in slow start, is less than twice what was in flight."""

class Loss:
    """Packets were declared lost.

    Comes before the ACK that revealed it. The window is the controller's to reduce: the transport reads it right
    after `on_loss` has begun an episode, and lets the flight shrink to it (`recovery`).
    """

    @property
    def now_s(self) -> float:
        """Now, s since the start of the run."""

    @property
    def packets(self) -> list[Packet]:
        """The lost packets, in ascending order."""

    @property
    def lost_bytes(self) -> int:
        """Sum of the packets' payload."""

    @property
    def in_flight_before_bytes(self) -> int:
        """Payload in flight before they were taken out."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight now."""

    @property
    def new_episode(self) -> bool:
        """Whether it is the first loss of an episode: the controller reduces its window then, once.

        Nobody else does.
        """

    @property
    def by_ack(self) -> bool:
        """Whether an ACK revealed them, and `on_ack` of it follows at once.

        Otherwise a timer did, or an ACK that acknowledges nothing new.
        """

    @property
    def srtt_s(self) -> float:
        """Smoothed RTT."""

    @property
    def next_number(self) -> int:
        """Number of the next transmission."""

class Timeout:
    """The retransmission timer expired, and all in flight is lost; or congestion is persistent (RFC 9002 7.6).

    `on_loss` has told the losses of persistent congestion just before. The window is the controller's to set.
    """

    @property
    def now_s(self) -> float:
        """Now, s since the start of the run."""

    @property
    def persistent(self) -> bool:
        """Whether it is persistent congestion."""

    @property
    def repeated(self) -> bool:
        """Whether nothing was acknowledged since the previous one."""

    @property
    def in_flight_before_bytes(self) -> int:
        """Payload in flight before the losses."""

    @property
    def next_number(self) -> int:
        """Number of the next transmission."""

class Ecn:
    """New CE marks were reported. Comes before the ACK that reports them."""

    @property
    def now_s(self) -> float:
        """Now, s since the start of the run."""

    @property
    def ce_packets(self) -> int:
        """Packets newly reported as marked; `Packet.ce` says which."""

    @property
    def packets(self) -> int:
        """Packets newly reported in all."""

    @property
    def new_episode(self) -> bool:
        """Whether it is the first mark of a round trip: the controller reduces its window then, nobody else does."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight."""

    @property
    def srtt_s(self) -> float:
        """Smoothed RTT."""

    @property
    def newest_sent_s(self) -> float:
        """When the newest packet left that the same ACK acknowledges: the `sent_time` of RFC 9002 B.7."""

class Sent:
    """A packet was sent."""

    @property
    def now_s(self) -> float:
        """Now, s since the start of the run."""

    @property
    def number(self) -> int:
        """Grows by one with every transmission."""

    @property
    def bytes(self) -> int:
        """Payload bytes, without headers: what window and pacing count for it."""

    @property
    def in_flight_bytes(self) -> int:
        """Payload in flight, this packet included."""

    @property
    def retransmission(self) -> bool:
        """Whether it carries data that was sent before."""

    @property
    def filler(self) -> bool:
        """Whether it carries no data of the application."""

    @property
    def frame(self) -> int:
        """The frame of a live source that its payload is of (`Frame.number`); 0: none."""

    @property
    def frame_end(self) -> bool:
        """Whether the frame ends with this packet."""

    @property
    def idle_timeouts(self) -> int:
        """Retransmission timeouts since the packet before, with nothing in flight; 0 where no window decays."""

class Frame:
    """The encoder of a live source wrote a frame."""

    @property
    def now_s(self) -> float:
        """Now, s since the start of the run."""

    @property
    def bytes(self) -> int:
        """Its payload bytes."""

    @property
    def key(self) -> bool:
        """Whether it is a key frame."""

    @property
    def queued_bytes(self) -> int:
        """Payload that waits to be sent, this frame included."""

    @property
    def queue_delay_s(self) -> float:
        """So long the oldest frame of that has waited."""

    @property
    def number(self) -> int:
        """Its number, from 1: the one that `Sent.frame` names."""

class Control:
    """What a controller allows. Values that cannot be end the run with a line that says so."""

    window_bytes: float
    """Most payload in flight, sent again and fillers included, headers not: 1 to 2^32 bytes, or infinite with pacing.

    During an episode the transport's `recovery` says which window counts (docs/plugins.md).
    """
    pacing_bps: float
    """Payload bits per second, headers not counted: 1 to 10^12, or infinite: as fast as the window opens."""
    burst_bytes: int
    """Most payload that leaves back to back when pacing; 0: one packet."""
    wake_at_s: float
    """When to call `on_wake`: 1 us from now or later, or infinite."""
    media_bps: float
    """Payload bits per second that a live encoder is to produce; infinite: what follows from window and pacing."""
    filler_bytes: int
    """Payload counted for packets without data, sent when there is no other; -1: none."""
    max_frame_wait_s: float
    """A frame of a live source of which nothing was sent for so long is dropped whole, and a key frame asked for.

    Infinite: none is. One that has begun to leave is finished.
    """
    app_limited: bool
    """True if the controller itself limits the sender: rate samples of packets sent then are marked `app_limited`."""

    def __init__(
        self,
        window_bytes: float,
        pacing_bps: float = ...,
        *,
        burst_bytes: int = 0,
        wake_at_s: float = ...,
        media_bps: float = ...,
        filler_bytes: int = -1,
        max_frame_wait_s: float = ...,
        app_limited: bool = False,
    ) -> None:
        """A window, and whatever else is not as it is unless said."""

class RunView:
    """A run that is looked at: what is kept of it in memory, and its files, each of which may be absent.

    The files are read once, unless `index` is what was kept of them. `retransmissions`: how many each flow (by number)
    had, where that is known; then it is known which packets they are.
    """

    built: bool
    """Whether the files were read: `index` was missing, damaged, or that of other files."""
    end_ns: int
    """The latest time of the run."""

    def __init__(
        self,
        packets: Log | None = None,
        flows: Log | None = None,
        links: Log | None = None,
        index: bytes | None = None,
        retransmissions: dict[int, int] | None = None,
    ) -> None: ...
    @staticmethod
    def of_index(index: bytes) -> RunView:
        """A run of which only what was kept is there: its windows, as closely as that shows them."""

    def index(self) -> bytes:
        """What is kept, for a file beside the others."""

    def series(self) -> str:
        """JSON: the series of the run: `owner`, `name`, `title`, `unit`, `kind` (points, steps, bars), `names`."""

    def window(self, t0_ns: float, t1_ns: float, columns: int, series: str) -> bytes:
        """The series of a part of the run and its rare events, as columns.

        `series` is JSON: a list of names (of all that have such a series) and of pairs of owner and name. Of a series
        with many samples there is a row for each of `columns` equal parts: the first time, the least and the largest
        value.
        """

    def packets(self, t0_ns: float, t1_ns: float, flow: int = 0, most: int = 100_000) -> bytes:
        """The packets of a flow (0: of all) that were sent or under way then, and ACKs, as columns."""

    def life(self, flow: int, seq: int) -> str:
        """JSON: what became of a packet, by names (`packet`) and in `sentences`."""

    def reading(self, facts: str = "{}") -> str:
        """JSON: what happened in the run, when and why.

        `sentences` have `text`, `from_ns`, `to_ns`, `flow`, `kind`, `evidence`.

        `facts` is JSON, as facts.json: of it `duration_ns` and of each flow `flow`, `scheme`, `application` (its kind)
        and `metrics.retransmissions` are looked at, where they are there.
        """
