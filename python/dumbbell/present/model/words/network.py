"""What a report says of the network and the machines of a run between two of them, in a person's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.contract.run import Busy, Network, RunTable

_AROUND = {"none": "a tag, no tunnel", "sealed": "our tunnel", "pantheon": "a tunnel as Pantheon's"}


def network_rows(run: RunTable) -> list[tuple[str, str]]:
    """Name and value of each line; none of a run that was made on one machine. `run` is as in `show --json`."""
    remote, clocks = run.get("remote"), run.get("clocks")
    if not remote or not clocks:
        return []
    mtu = remote["mtu"]
    routers = f", {len(remote['hops'])} routers told of themselves" if remote["hops"] else ""
    shortest = clocks.get("rtt_ms")
    trip = "" if shortest is None else f"round trip of {shortest:.3f} ms at least, "
    rows = [
        ("network", f"{trip}packets of up to {mtu['there']} bytes there and {mtu['back']} back{routers}"),
        ("around packets", _around(remote)),
    ]
    strange = _strange(remote)
    if strange:
        rows.append(("counted besides", strange))
    machines = "; ".join(
        f"{side} {_load(cpu)}" for side, counted in remote["machines"].items() if (cpu := counted.get("cpu"))
    )
    return [*rows, ("machines", machines)] if machines else rows


def _around(remote: Network) -> str:
    """What our own doing adds to each packet, flow by flow where flows differ."""
    each = [
        f"{overhead} bytes ({_AROUND.get(tunnel, tunnel)})"
        for tunnel, overhead in zip(remote["tunnels"], remote["overhead_bytes"], strict=False)
    ]
    if len(set(each)) < 2:
        return "".join(each[:1])
    return "; ".join(f"flow {number}: {words}" for number, words in enumerate(each, 1))


def _strange(remote: Network) -> str:
    """What was not the peer's, and where that was all at once."""
    counted = [remote["channel"], *(flow["guarded"] for flow in remote["flows"])]
    words = {
        "forged": "datagrams that nobody of the two had made",
        "replayed": "that had come before",
        "moved": "times the other side's address was another",
    }
    sums = {
        "forged": sum(each["forged"] for each in counted),
        "replayed": sum(each["replayed"] for each in counted),
        "moved": sum(each["moved"] for each in counted),
    }
    return ", ".join(f"{sums[key]:,} {text}" for key, text in words.items() if sums[key])


def _load(cpu: Busy) -> str:
    steal = f", {cpu['steal']:.0%} taken by others" if cpu.get("steal") else ""
    return f"{cpu['busy']:.0%} busy{steal}"
