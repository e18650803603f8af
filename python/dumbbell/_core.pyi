"""The Rust core. Tables go in and come out as JSON, time series as flat arrays of numbers in native byte order.

`dumbbell.core` documents and types the functions that take or return JSON.
"""

from collections.abc import Callable
from os import PathLike

import numpy as np
from numpy.typing import NDArray

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
    def reset(self, seeds: list[int | None], mask: list[bool] | None = None) -> None: ...
    def step(self) -> None: ...
    def array(self, name: str) -> ArrayView: ...
    def drawn(self, index: int) -> tuple[int, str]: ...
    def record(self, index: int, sample_interval_s: float = 0.1) -> tuple[str, str, Table, Table, Table]: ...

def environment_fields() -> str: ...
def controllers() -> str: ...
def run_schema() -> str: ...
def statistics_schema() -> str: ...
def needed_files() -> dict[str, list[str]]: ...
def check_parameters(controller: str, parameters: dict[str, str]) -> None:
    """Refuses parameters that `controller` does not have or whose values are not allowed."""

def check_application(table: str) -> None: ...
def transport(table: str) -> str: ...
def metrics() -> str: ...
def labels() -> str: ...

class RemoteEndpoint:
    """This machine's side of a run between two. Requests and answers are JSON."""

    def open(self, request: str) -> str: ...
    def meet(self, request: str) -> str: ...
    def ask(self, seconds: float, per_s: float) -> str: ...
    def probe(self, request: str) -> str: ...
    def run(self, specification: str, part: str, ready: Callable[[], int], live: str | None = None) -> None: ...
    def finish(self) -> bytes: ...
    def stop(self) -> None: ...

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
) -> str: ...
def clock_offset(exchanges: str, machine: str) -> tuple[int, int]: ...
def round_trips(exchanges: str, machine: str) -> list[int]: ...
def clock_ns() -> int:
    """The clock that sides go by, ns."""

def distort_clock(text: str) -> None:
    """Makes the clock of this process wrong: `offset=37ms,drift=100ppm,step=+20ms@5s`."""

def check_path(table: str) -> None: ...
def describe_path(table: str) -> str: ...
def opportunities(table: str, direction: str, seed: int, seconds: float) -> list[int]: ...
def parse_trace(text: str) -> list[int]:
    """Times of the opportunities in ms of a trace in mahimahi's format; refusals name the line."""

def check_run(specification: str, backend: str = "sim") -> None: ...

OnProgress = Callable[[str, bytes | None], object]
"""Called with where a training stands and, now and then, with what was learned so far."""

def trainers() -> list[str]:
    """The names of all trainers of the core."""

def train_controller(
    name: str, settings: str, seed: int, jobs: int, seconds: float, start: bytes | None, told: OnProgress
) -> bytes: ...

Watch = Callable[[float, dict[int, dict[str, float]], dict[str, dict[str, float]]], object]
"""Told what a run looks like: the time in s, and the values of flows and of links, each by field."""

def simulate(specification: str, directory: str | None = None, watch: Watch | None = None) -> str: ...
def simulate_batch(
    templates: list[tuple[int, str, str, str]],
    runs: list[tuple[int, int, int, list[float]]],
    folders: list[str],
    started_at: str,
    limits: tuple[int, float],
    told: Callable[[int], object] | None,
) -> tuple[list[int], list[tuple[int, str]], BaseException | None]: ...
def write_numbers(
    runs: list[tuple[int, str, str, int, int, object, str | None]], folders: list[str], started_at: str
) -> None: ...
def number_names(file: Log) -> list[str]: ...
def read_numbers(file: Log, wanted: list[str] | None = None) -> Table: ...

class NumberBatch:
    """Numbers of the runs of one batch, read back."""

    def __init__(self, runs: Log, flows: Log, links: Log) -> None: ...
    def statistics(self, row: int) -> str:
        """Return the statistics of the run in a row, as JSON."""

def controller_cost(specification: str) -> str: ...
def controllers_beside(candidate: str, baseline: str) -> str: ...
def describe_script(text: str) -> str: ...
def run_script(text: str, specification: str | None = None, steps: bool = False) -> str: ...
def record_script(specification: str, head: str) -> str: ...
def simulate_in_memory(specification: str, watch: Watch | None = None) -> tuple[str, Table | None, Table, Table]: ...
def emulate(
    specification: str,
    directory: str | None = None,
    waits: Callable[..., object] | None = None,
    live: tuple[str, int] | None = None,
) -> str: ...
def emulate_shell(specification: str) -> int: ...
def check_emulation() -> str: ...
def enter_user_namespace() -> None:
    """Makes this process the root of a user namespace of its own. It must have one thread only."""

def clean_up() -> None:
    """Removes the private directories that runs which were killed have left behind."""

def measure_log(packets: Log | None, options: str) -> str: ...

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

def series(packets: Source, bin_s: float = 0.5) -> str: ...
def jain_series(packets: Source, options: str) -> str: ...
def transfers(packets: Source, options: str) -> str: ...
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

def import_merged_log(data: str, ack: str | None, packets: str, strict: bool) -> str: ...
def import_mahimahi(data: str, ack: str | None, packets: str, strict: bool) -> str: ...
def import_raw_logs(
    data: list[tuple[str, str]], ack: list[tuple[str, str]], offsets_ms: tuple[float, float], packets: str, strict: bool
) -> str: ...
def read_compressed(file: str, most: int) -> bytes:
    """Return the bytes of a file, which may be compressed (gzip, bzip2, xz, Zstandard).

    Raises:
        Error: they are more than `most`, or the file cannot be read.
    """

def read_head(file: str, most: int) -> bytes:
    """Return the first bytes of a file, which may be compressed; at most `most`."""

def export_pantheon(packets: Log, data: str, ack: str, init_us: int) -> None:
    """Writes a packet log as Pantheon's merged logs of both directions; time 0 is `init_us` after 1970."""

def import_capture(file: str, receiver: str | None, end: str | None, clocks: str, directory: str) -> str: ...
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
) -> int: ...
def import_qlog(file: str, directory: str) -> str: ...
def mean_and_ends(values: list[float] | NDArray[np.float64]) -> tuple[float, float, float] | None:
    """The mean, the least and the largest of values; None without any."""

def confidence_interval(
    values: list[float] | NDArray[np.float64], level: float, fraction: bool = False
) -> tuple[float, float] | None:
    """The interval of the mean; None of fewer than five values, or if they do not differ.

    That of fractions of a whole does not reach beyond it.
    """

def difference(
    first: list[float], second: list[float], paired: bool, level: float
) -> tuple[float, float, float, float] | None:
    """Low and high end of the second mean less the first, the probability of no difference, and what would be shown.

    The last is the difference that as many values with as much scatter show in 80 of 100 cases. None as above.
    """

def critical_values(level: float, max_tests: int) -> str: ...
def holm(probabilities: list[float]) -> list[float]:
    """Probabilities of tests made at once, adjusted for their number."""

def normalised(flows: str, legacy: bool, most_mbps: float = 120.0) -> str: ...
def jain_index(rates: list[list[float]]) -> list[float | None]:
    """Jain's index of each list of rates; None where nothing moved."""

def harm(solo: float, with_competitor: float, more_is_better: bool) -> float | None:
    """Harm (Ware et al. 2019): the fraction of a victim's performance that a competitor takes; negative is a gain.

    None where it is not defined: of negative values, and of nothing.
    """

def describe_plugin(file: str, sha256: str) -> str: ...
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

    During an episode the transport's `recovery` says which window counts (docs/reference/controllers.md).
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
    def of_index(index: bytes) -> RunView: ...
    def index(self) -> bytes: ...
    def series(self) -> str: ...
    def window(self, t0_ns: float, t1_ns: float, columns: int, series: str) -> bytes: ...
    def packets(self, t0_ns: float, t1_ns: float, flow: int = 0, most: int = 100_000) -> bytes: ...
    def life(self, flow: int, seq: int) -> str: ...
    def reading(self, facts: str = "{}") -> str: ...
