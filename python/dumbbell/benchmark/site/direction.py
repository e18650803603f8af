"""Which way each metric is better, and how its values are written."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from dumbbell import _core

MORE, LESS, NEITHER = 1, -1, 0

BETTER: dict[str, int] = {
    "throughput_mbps": MORE,
    "ingress_mbps": NEITHER,
    "delay_p95_ms": LESS,
    "loss_rate": LESS,
    "acklink.throughput_mbps": NEITHER,
    "acklink.delay_p95_ms": LESS,
    "acklink.loss_rate": LESS,
    "goodput_mbps": MORE,
    "packet_loss_rate": LESS,
    "owd_mean_ms": LESS,
    "owd_min_ms": LESS,
    "owd_p50_ms": LESS,
    "owd_p95_ms": LESS,
    "owd_p99_ms": LESS,
    "self_inflicted_delay_p95_ms": LESS,
    "self_inflicted_delay_mean_ms": LESS,
    "packets_sent": NEITHER,
    "packets_delivered": NEITHER,
    "packets_dropped": LESS,
    "packets_marked": NEITHER,
    "packets_in_flight_at_end": NEITHER,
    "packets_in": NEITHER,
    "packets_out": NEITHER,
    "bytes_sent": NEITHER,
    "bytes_delivered": NEITHER,
    "data_bytes_delivered": MORE,
    "retransmissions": NEITHER,  # unreliable transports have none, whatever they lose
    "timeouts": LESS,
    "loss_episodes": LESS,
    "mean_cwnd_bytes": NEITHER,
    "mean_in_flight_bytes": NEITHER,
    "mean_srtt_ms": LESS,
    "media.media_rate_mbps": MORE,
    "media.media_utilization": MORE,
    "media.frame_delay_p50_ms": LESS,
    "media.frame_delay_p95_ms": LESS,
    "media.frame_delay_p99_ms": LESS,
    "media.stalls": LESS,
    "media.stall_time_s": LESS,
    "media.stall_ratio": LESS,
    "media.frames_written": NEITHER,
    "media.frames_skipped": LESS,
    "media.frames_decoded": MORE,
    "capacity_mbps": NEITHER,
    "capacity_utilization": MORE,
    "utilization": MORE,
    "mean_queue_packets": LESS,
    "mean_queue_bytes": LESS,
    "max_queue_packets": LESS,
    "max_queue_bytes": LESS,
    "mean_queue_delay_ms": LESS,
    "duration_s": NEITHER,
    "valid": NEITHER,
    "jain_index": MORE,
    "jain_index_mean": MORE,
    "mean_throughput_l4": MORE,
    "mean_throughput_l7": MORE,
    "mean_sending_rate_l4": NEITHER,
    "mean_sending_rate_l7": NEITHER,
    "mean_delivery_rate_l4": MORE,
    "mean_cwnd_l4": NEITHER,
    "mean_in_flight_l4": NEITHER,
    "mean_srtt_l4": LESS,
    "mean_est_qdelay_l4": LESS,
    "mean_network_power_l4": MORE,
    "mean_utility_pf_l4": MORE,
    "mean_utility_mpdf_l4": MORE,
    "zero_samples_l4": LESS,
    "mean_utilization_bw_l4": MORE,
    "mean_utilization_bdp_l4": NEITHER,
    "mean_utilization_bdp_compat_l4": NEITHER,
    "cov_throughput_l4": LESS,
    "var_throughput_l4": LESS,
    "cov_in_flight_l4": LESS,
    "flow_completion_time_l4": LESS,
    "mean_idt_ewma_l4": NEITHER,
    "mean_one_way_delay_l7": LESS,
    "mean_recovery_time_l4": LESS,
    "total_retransmissions_l4": NEITHER,
    "total_rtos_l4": LESS,
    "starvation_time_s": LESS,
    "time_to_90_s": LESS,
    "settling_time_s": LESS,
    "ecn_mark_rate": NEITHER,
    "max_queue_delay_ms": LESS,
    "peak_queue_ms": LESS,
    "mean_qdisc_delay_l2": LESS,
    "mean_qdisc_length_l2": LESS,
    "mean_sending_rate_l1": NEITHER,
    "total_qdisc_drops_l2": LESS,
    "mean_agg_throughput_l4": MORE,
    "mean_agg_in_flight_l4": NEITHER,
    "mean_agg_utilization_bw_l4": MORE,
    "mean_agg_utilization_bdp_l4": NEITHER,
    "mean_agg_utility_pf_l4": MORE,
    "mean_agg_utility_mpdf_l4": MORE,
    "mean_jains_fairness_throughput_l4": MORE,
    "mean_entropy_fairness_throughput_l4": MORE,
    "mean_product_fairness_throughput_l4": MORE,
    "convergence_time_s": LESS,
    "fct_mean_s": LESS,
    "fct_p50_s": LESS,
    "fct_p95_s": LESS,
    "fct_p99_s": LESS,
    "fct_incomplete": LESS,
    "completions.flows": NEITHER,
    "completions.completed": MORE,
    "completions.mean_s": LESS,
    "completions.p50_s": LESS,
    "completions.p95_s": LESS,
    "completions.p99_s": LESS,
}
"""For one user of the network, all else equal. A test holds this table and the definitions together."""

_DIGITS = 4
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Metric:
    """A metric of a level (`flow`, `link`, `network`) as the core defines it."""

    level: str
    name: str
    unit: str = ""
    formula: str = ""
    source: str = ""
    convention: str = ""
    sampled: bool = False
    neutral: bool = False

    @property
    def better(self) -> int:
        """`MORE`, `LESS` or `NEITHER`."""
        return NEITHER if self.neutral else BETTER.get(self.name, NEITHER)

    @property
    def arrow(self) -> str:
        """Which way is better, as a sign; empty if neither."""
        return {MORE: "\u2191", LESS: "\u2193", NEITHER: ""}[self.better]


@cache
def definitions() -> dict[tuple[str, str], Metric]:
    """Every metric by level and name."""
    keys = ("level", "name", "unit", "formula", "source", "convention")
    rows = json.loads(_core.metrics())
    return {
        (row["level"], row["name"]): Metric(**{key: row[key] for key in keys}, sampled=row.get("sampled", False))
        for row in rows
    }


def metric(level: str, name: str) -> Metric:
    """The metric called `name`."""
    return definitions().get((level, name), Metric(level, name))


def decimals(values: Iterable[float]) -> int:
    """How many decimals values that stand beside each other get: four digits for the largest, none for counts."""
    known = [value for value in values if math.isfinite(value)]
    most = max((abs(value) for value in known), default=0.0)
    if most == 0.0 or all(value == round(value) for value in known):
        return 0
    return min(max(_DIGITS - 1 - math.floor(math.log10(most)), 0), _MOST_DECIMALS)


def number(value: float, places: int) -> str:
    """The value with so many decimals, without a minus in front of zero; nothing at all is 0."""
    if value == 0:
        return "0"
    shown = f"{value:.{places}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def best(shown: list[str | None], values: list[float | None], better: int) -> list[bool]:
    """Which of values beside each other are the best, by what is shown of them; none if all are alike."""
    known = [value for value in values if value is not None]
    alike = len({text for text in shown if text is not None}) < 2
    if better == NEITHER or alike:
        return [False] * len(values)
    top = max(known) if better == MORE else min(known)
    text = shown[values.index(top)]
    return [each is not None and each == text for each in shown]
