"""Session descriptions: what has to be in them, and the one line we add."""


def lines(sdp: str) -> list[str]:
    """The lines of a description, without their ends."""
    return sdp.replace("\r\n", "\n").rstrip("\n").split("\n")


def candidates(sdp: str) -> list[str]:
    """The addresses that a side can be reached at; none without a route."""
    return [line for line in lines(sdp) if line.startswith("a=candidate:")]


def offers_rfc8888(sdp: str) -> bool:
    """Whether the side is ready for congestion control feedback after RFC 8888."""
    return any(line.startswith("a=rtcp-fb:") and line.endswith(" ack ccfb") for line in lines(sdp))


def with_bandwidth(sdp: str, kbps: int) -> str:
    """The description with the rate that its side is ready to receive, in each video section.

    libwebrtc takes `b=AS` as the most it may ever send: its initial probing then goes beyond 5 Mbit/s.
    """
    result, in_video = [], False
    for line in lines(sdp):
        if line.startswith("m="):
            in_video = line.startswith("m=video")
        if in_video and line.startswith("b="):
            continue
        result.append(line)
        # RFC 8866, section 5: b= follows c= at once
        if in_video and line.startswith("c="):
            result.append(f"b=AS:{kbps}")
    return "\r\n".join(result) + "\r\n"
