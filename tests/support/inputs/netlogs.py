"""Log of Chrome's network stack by hand: a QUIC session that uploads, and an idle one."""

import json
from typing import Any

TYPES = {
    "REQUEST_ALIVE": 2,
    "QUIC_SESSION": 270,
    "QUIC_SESSION_PACKET_RECEIVED": 275,
    "QUIC_SESSION_PACKET_SENT": 276,
    "QUIC_SESSION_PACKET_LOST": 278,
    "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED": 280,
    "QUIC_SESSION_ACK_FRAME_RECEIVED": 284,
    "QUIC_SESSION_ACK_FRAME_SENT": 285,
    "QUIC_SESSION_STREAM_FRAME_SENT": 290,
}
COUNT = 100
RTT_MS = 40
LOST = 50


def netlog_events() -> list[dict[str, Any]]:
    """Return events of a session that sends 1000 bytes each 10 ms; of 100 packets one is lost."""

    def event(time_ms: float, name: str, source: int = 7, **params: object) -> dict[str, Any]:
        return {
            "params": params,
            "phase": 0,
            "source": {"id": source, "type": 10},
            "time": f"{time_ms:g}",
            "type": TYPES[name],
        }

    events = [
        event(500, "QUIC_SESSION", host="example.org", port=443),
        event(500, "QUIC_SESSION", 8, host="idle.example.org"),
        event(500, "REQUEST_ALIVE", 9),
        event(500, "QUIC_SESSION_PACKET_SENT", packet_number=1, size=1200, encryption_level="ENCRYPTION_INITIAL"),
        event(540, "QUIC_SESSION_PACKET_RECEIVED", size=1200),
        event(540, "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED", long_header_type="INITIAL", packet_number=1),
        event(540, "QUIC_SESSION_ACK_FRAME_RECEIVED", largest_observed=1, missing_packets=[]),
        event(500, "QUIC_SESSION_PACKET_SENT", 8, packet_number=1, size=1200),
    ]
    for number in range(1, COUNT + 1):
        sent_ms = 600 + 10 * number
        events.append(
            event(sent_ms, "QUIC_SESSION_STREAM_FRAME_SENT", stream_id=0, offset=900 * (number - 1), length=900)
        )
        events.append(
            event(
                sent_ms,
                "QUIC_SESSION_PACKET_SENT",
                packet_number=str(number),
                size=1000,
                encryption_level="ENCRYPTION_FORWARD_SECURE",
            )
        )
        if number != LOST:
            missing = [str(LOST)] if number > LOST else []
            events += [
                event(sent_ms + RTT_MS, "QUIC_SESSION_PACKET_RECEIVED", size=40),
                event(
                    sent_ms + RTT_MS,
                    "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED",
                    packet_number=number + 1,
                    header_format="IETF_QUIC_SHORT_HEADER_PACKET",
                ),
                event(
                    sent_ms + RTT_MS,
                    "QUIC_SESSION_ACK_FRAME_RECEIVED",
                    largest_observed=number,
                    missing_packets=missing,
                ),
            ]
    end_ms = 600 + 10 * (COUNT + 9)
    events += [
        event(end_ms, "QUIC_SESSION_ACK_FRAME_SENT", largest_observed=9),
        event(end_ms, "QUIC_SESSION_PACKET_SENT", packet_number=COUNT + 1, size=31),
    ]
    events.append(event(600 + 10 * (LOST + 3) + RTT_MS, "QUIC_SESSION_PACKET_LOST", packet_number=LOST))
    return sorted(events, key=lambda entry: float(entry["time"]))


def netlog() -> str:
    """Return the log as Chrome writes it: a line for each event."""
    constants = {"logEventTypes": TYPES, "timeTickOffset": 1_700_000_000_000}
    lines = ",\n".join(json.dumps(event) for event in netlog_events())
    return f'{{"constants":{json.dumps(constants)},\n"events": [\n{lines}],\n"polledData": {{"a": []}}}}\n'
