"""Names of metrics in words: `owd_p95_ms` is the one-way delay, 95th percentile."""

_WORDS = {
    "acklink": "return direction:",
    "agg": "aggregate",
    "bdp": "of the BDP",
    "bw": "of the bandwidth",
    "compat": "as ccperf has it",
    "completions": "transfers of one size:",
    "cov": "coefficient of variation of the",
    "cwnd": "congestion window",
    "ecn": "ECN",
    "est": "estimated",
    "ewma": "moving average",
    "fct": "flow completion time",
    "idt": "time between ACKs",
    "jain": "Jain's",
    "jains": "Jain's",
    "max": "largest",
    "mpdf": "(MPDF)",
    "owd": "one-way delay",
    "pf": "(proportional fairness)",
    "qdelay": "queueing delay",
    "qdisc": "queue",
    "rtos": "retransmission timeouts",
    "srtt": "smoothed RTT",
    "utilization": "utilisation",
    "var": "variance of the",
}
_WHOLE = {
    "cov_in_flight_l4": "coefficient of variation of the amount in flight, transport",
    "fct_incomplete": "transfers left unfinished",
    "mean_entropy_fairness_throughput_l4": "entropy of the throughputs, mean, transport",
    "mean_jains_fairness_throughput_l4": "Jain's index of the throughputs, mean, transport",
    "mean_product_fairness_throughput_l4": "product of the throughputs, mean, transport",
    "mean_qdisc_delay_l2": "mean queueing delay, queue",
    "mean_qdisc_length_l2": "mean queue length, queue",
    "peak_queue_ms": "highest queueing delay after the change",
    "time_to_90_s": "time to 90 % of the fair share",
    "total_qdisc_drops_l2": "total drops, queue",
}
_LAYERS = {"l1": "on the wire", "l2": "queue", "l4": "transport", "l7": "application"}
_UNITS = {"mbps", "ms", "s", "bytes", "packets"}
_BEHIND = {
    "p10": "10th percentile",
    "p50": "median",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "mean": "mean",
    "min": "smallest",
}


def metric_words(name: str) -> str:
    """Return the name in words, without its unit; identifiers stay beside it where they are needed."""
    if name in _WHOLE:
        return _WHOLE[name]
    group, _, rest = name.rpartition(".")
    parts = rest.split("_")
    behind = [_LAYERS[part] for part in parts if part in _LAYERS]
    parts = [part for part in parts if part not in _LAYERS]
    if len(parts) > 1 and parts[-1] in _UNITS and parts[0] not in ("packets", "bytes"):
        parts.pop()
    percentiles = [_BEHIND[part] for part in parts[1:] if part in _BEHIND]
    parts = [part for index, part in enumerate(parts) if index == 0 or part not in _BEHIND]
    words = [_WORDS.get(part, _BEHIND.get(part, part)) for part in parts]
    front = [_WORDS[group]] if group in _WORDS else []
    text = " ".join([*front, *words]).replace("self inflicted", "self-inflicted")
    return ", ".join([text.replace("one way", "one-way"), *percentiles, *behind])
