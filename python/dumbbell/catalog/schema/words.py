"""Descriptions of keys of TOML files that no reader provides: one sentence each, by table and key.

The core describes the keys of path elements, transports, applications and controllers. `experiment_settings.py`
describes the settings of an experiment, and the functions of `grids/axes.py` describe the axes of a grid.
"""

_NAME = "Letters, digits and `._+-`; the file's name if absent."
_ALIASES = "Other names that it answers to."

WORDS: dict[str, dict[str, str]] = {
    "path": {
        "name": _NAME,
        "title": "What people read, such as rate and RTT.",
        "provenance": "Where the numbers come from.",
        "aliases": _ALIASES,
        "overhead_bytes": "Bytes added to every datagram, and to every fragment of one.",
        "mtu_bytes": "Largest packet, overhead included.",
        "fragment": "Fragment datagrams that are too large; false: refuse them.",
        "schedule": "Changes of the MTU during the run, in the order of time; needs `fragment = true`.",
        "data": "Elements from sender to receiver, in the order that packets pass them.",
        "ack": "Elements from receiver to sender, in the order that packets pass them.",
    },
    "mtu_change": {
        "at_s": "When, s.",
        "mtu_bytes": "Largest packet from then on, overhead included.",
    },
    "scheme": {
        "name": _NAME,
        "kind": "Where the controller is: `core` (built in), `plugin` (a library in C or Rust), `python` (a class), "
        "`kernel` (this machine's kernel), `bpf` (loaded into the kernel), `program` (in a real program).",
        "title": "The name in figures and tables.",
        "color": "Colour in figures: a name of CSS or `#rrggbb`.",
        "marker": "Marker in figures, as matplotlib calls it.",
        "family": "Schemes whose controllers go by the same signal or come from one design.",
        "yields": "True if the design yields the path to others: no fair share is expected.",
        "controller": "Controller: built in, of the library, or of the kernel; the scheme's name if absent.",
        "class": "Name of the class that is the controller.",
        "library": "File of the library that has the controller, relative to this file.",
        "file": "File with the class, relative to this file.",
        "summary": "One sentence about it.",
        "source": "Paper, RFC or code that it follows.",
        "status": "How sure it is: `verified`, `experimental`, or `imported` (results only, it cannot be run).",
        "aliases": _ALIASES,
        "parameters": "Parameters of the controller, or of the program's command, that differ from the defaults.",
        "transport": "Keys of the transport that differ from its profile.",
        "application": "What its flows carry unless an experiment says otherwise: bulk data if absent.",
        "program": "The commands of a real program.",
        "files": "SHA-256 of each file that the scheme depends on; results have it.",
    },
    "program": {
        "sender": "Command of the sending side: words, or a line that is split as a shell does.",
        "receiver": "Command of the receiving side, likewise.",
        "first": "The side that starts first and listens.",
        "ready": "When that side is ready: `listen` (a socket is bound to the port), `output:TEXT`, `wait:SECONDS`.",
        "ready_timeout_s": "Longest time until the first side is ready, s.",
        "environment": "Added to the environment of both sides.",
        "requires": "Programs that have to be installed; the first words of both commands if absent.",
    },
    "experiment": {
        "name": _NAME,
        "title": "What people read.",
        "aliases": _ALIASES,
        "schemes": "Schemes, each alone with `flows` flows; `all` is every listed scheme.",
        "mixes": "Flows of several schemes in one run, such as `cubic*2+bbr`.",
        "paths": "Paths: names, aliases, or TOML files.",
        "flow": "Flows one by one, instead of `flows` and `interval_s`.",
        "grid": "Axes and their values: every combination of values is a cell.",
        "cell": "Cells that a grid has made; results have them.",
        "benchmark": "Place in the benchmark, and what its page shows.",
        "quick": "What `--quick` replaces.",
        "scheme": "Schemes of this experiment, by name.",
        "path": "Paths of this experiment, by name.",
        "published": "Published numbers that stand beside ours.",
        "published_source": "Where the published numbers are from.",
    },
    "flow": {
        "scheme": "Scheme of the flow; the one under test if absent.",
        "start_s": "Start, s.",
        "stop_s": "Stop, s; the end of the run if absent.",
        "rtt_ms": "Base RTT, ms; the path's own if absent.",
        "reverse": "Data travel over the path's `ack` direction.",
        "enter": "Name of the element where data enter; the first one if absent. Simulated runs only.",
        "leave": "Name of the last element that data pass; the last one if absent. Simulated runs only.",
        "application": "What the flow carries; what its scheme brings if absent.",
        "transport": "Keys of the transport that differ from the scheme's.",
        "count": "Flows that this table stands for; with `every_s` or `arrivals`: as many as arrive if absent.",
        "every_s": "Time between the starts of these flows, s.",
        "arrivals": "Flows arrive at random.",
    },
    "arrivals": {"kind": "The process.", "per_s": "Flows per second on average."},
    "sizes": {
        "kind": "Which distribution.",
        "values": "Sizes, bytes.",
        "weights": "How often each of them is drawn, relative to the others; all alike if absent.",
        "least": "Least size, bytes.",
        "most": "Most bytes: larger sizes count as this.",
        "mean": "Mean size, bytes.",
        "sigma": "Standard deviation of the logarithm.",
        "shape": "Shape of the tail: the smaller, the heavier.",
    },
    "benchmark": {
        "group": "Group of the index.",
        "text": "What is tried and why, for the page.",
        "references": "Schemes to compare with.",
        "flow_metrics": "Metrics of flows that the page shows.",
        "link_metrics": "Metrics of links that the page shows.",
        "network_metrics": "Metrics of the network that the page shows.",
        "figures": "Figures of the page.",
        "victims": "Scheme whose flows suffer, where that is the question.",
        "neutral_metrics": "Metrics of which neither more nor less is better here.",
    },
    "quick": {
        "paths": "Paths instead of the experiment's.",
        "grid": "Axes instead of the experiment's.",
        "leave_out": "The experiment is left out.",
    },
    "published": {
        "scheme": "Our scheme; none: we have none, or do not run it.",
        "title": "Name in tables where there is no scheme of ours.",
        "path": "Path; every path if absent.",
        "uncounted": "Why it is not part of the replication error.",
        "throughput_mbps": "Throughput of all flows together, Mbit/s.",
        "delay_p95_ms": "95th percentile of the one-way delay, ms.",
        "loss_rate": "Share of packets lost, 0 to 1.",
    },
    "mean": {
        "mean": "Mean over the runs.",
        "low": "Smallest run.",
        "high": "Largest run.",
    },
    "cell": {
        "path": "Path that the cell was made of.",
        "axes": "Values that made it, by axis.",
        "parameters": "Former name of `axes`.",
        "flow": "Flows of the cell.",
    },
    "outage": {
        "at_s": "When it begins, s.",
        "for_s": "How long it lasts, s; 0: no outage.",
        "both": "The other direction stands still too.",
    },
    "step": {
        "target": "What changes: `rate` (Mbit/s), `rtt` (ms) or `loss` (probability).",
        "lower": "The lower value, in the unit of `target`.",
        "upper": "The upper value.",
        "direction": "`up`: the lower value comes first.",
        "period_s": "When it changes, s.",
    },
    "pulse": {
        "target": "What changes: `rate` (Mbit/s), `rtt` (ms) or `loss` (probability).",
        "lower": "The lower value, in the unit of `target`; it comes first.",
        "upper": "The upper value.",
        "period_s": "Length of both halves together, s.",
        "until_s": "When the changes end, s.",
    },
    "random_walk": {"interval_ms": "Time between steps, ms."}
    | {
        f"{target}_{key}": f"{description} of the {target}{unit}."
        for target, unit in (("rate", ", Mbit/s"), ("delay", ", ms"), ("loss", ", a probability"))
        for key, description in (
            ("corr_coeff", "Share of the last step that the next one keeps"),
            ("noise_std", "Standard deviation of what is added to a step"),
            ("min", "Lowest value"),
            ("max", "Highest value"),
        )
    },
    "versus": {
        "scheme": "The other scheme; none: the flows under test alone.",
        "ours": "By how much the flows under test are multiplied.",
        "theirs": "Flows of the other scheme.",
        "start_s": "When they start, s.",
    },
    "staircase": {
        "flows": "Flows under test.",
        "apart_s": "Time between joins, s.",
        "schedule": "How long each flow stays: `symmetric`, or `original` as in the paper's own script.",
    },
}
