"""Paths of tests, as files: one link with its queue, a delay in each direction, and loss if a test wants it."""


def path_text(
    rate_mbps: float = 10.0,
    delay_ms: float = 10.0,
    link: str = 'queue = { kind = "droptail", packets = 30 }',
    loss: float | None = None,
    head: str = "",
) -> str:
    """Return a path's table. `head` precedes it; `link` has the other lines of the link."""
    loss_text = "" if loss is None else f'\n[[data]]\nkind = "loss"\nprobability = {loss}\n'
    return f"""{head}
[[data]]
kind = "link"
rate_mbps = {rate_mbps}
{link}
{loss_text}
[[data]]
kind = "delay"
delay_ms = {delay_ms}

[[ack]]
kind = "delay"
delay_ms = {delay_ms}
"""


SMALL = path_text(head='title = "10 Mbit/s, 20 ms, 30 packets"\n')
LOSSY = path_text(4.0, 15.0, 'queue = { kind = "droptail", packets = 20 }', loss=0.02, head="overhead_bytes = 36\n")
FAR = path_text(
    delay_ms=25.0,
    link='queue = { kind = "droptail", packets = 62 }',
    head='title = "10 Mbit/s, 50 ms, 62 packets: of real packets more lateness is allowed than over a short path"\n',
)
