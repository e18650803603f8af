"""Network and machines of a run between two machines, in words for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.contract.run import Busy, Network, RunTable

_ENCAPSULATIONS = {"none": "a tag, no tunnel", "sealed": "our tunnel", "pantheon": "a tunnel as Pantheon's"}


def network_rows(run: RunTable) -> list[tuple[str, str]]:
    """Return name and value of each line; empty for a run on one machine. `run` is as in `show --json`."""
    remote, clocks = run.get("remote"), run.get("clocks")
    if not remote or not clocks:
        return []
    mtu = remote["mtu"]
    routers = f", {len(remote['hops'])} routers told of themselves" if remote["hops"] else ""
    shortest = clocks.get("rtt_ms")
    trip = "" if shortest is None else f"round trip of {shortest:.3f} ms at least, "
    rows = [
        ("network", f"{trip}packets of up to {mtu['there']} bytes there and {mtu['back']} back{routers}"),
        ("around packets", _encapsulation(remote)),
    ]
    foreign_text = _foreign_datagrams(remote)
    if foreign_text:
        rows.append(("counted besides", foreign_text))
    machines = "; ".join(
        f"{side} {_load(cpu)}" for side, resources in remote["machines"].items() if (cpu := resources.get("cpu"))
    )
    return [*rows, ("machines", machines)] if machines else rows


def _encapsulation(remote: Network) -> str:
    """Return size and kind of the encapsulation of each packet, flow by flow if flows differ."""
    flow_texts = [
        f"{overhead} bytes ({_ENCAPSULATIONS.get(tunnel, tunnel)})"
        for tunnel, overhead in zip(remote["tunnels"], remote["overhead_bytes"], strict=False)
    ]
    if len(set(flow_texts)) < 2:
        return "".join(flow_texts[:1])
    return "; ".join(f"flow {number}: {words}" for number, words in enumerate(flow_texts, 1))


def _foreign_datagrams(remote: Network) -> str:
    """Return the counts, over all flows, of datagrams that are forged, replayed, or from another address."""
    counters = [remote["channel"], *(flow["guarded"] for flow in remote["flows"])]
    words = {
        "forged": "datagrams that nobody of the two had made",
        "replayed": "that had come before",
        "moved": "times the other side's address was another",
    }
    sums = {
        "forged": sum(counter["forged"] for counter in counters),
        "replayed": sum(counter["replayed"] for counter in counters),
        "moved": sum(counter["moved"] for counter in counters),
    }
    return ", ".join(f"{sums[key]:,} {text}" for key, text in words.items() if sums[key])


def _load(cpu: Busy) -> str:
    steal = f", {cpu['steal']:.0%} taken by others" if cpu.get("steal") else ""
    return f"{cpu['busy']:.0%} busy{steal}"
