"""Session descriptions: required lines, and the one line that dumbbell adds."""


def lines(sdp: str) -> list[str]:
    """Return the lines of a description, without their ends."""
    return sdp.replace("\r\n", "\n").rstrip("\n").split("\n")


def candidates(sdp: str) -> list[str]:
    """Return the addresses at which an end can be reached. The list is empty without a route."""
    return [line for line in lines(sdp) if line.startswith("a=candidate:")]


def offers_rfc8888(sdp: str) -> bool:
    """Return True if the end supports congestion control feedback after RFC 8888."""
    return any(line.startswith("a=rtcp-fb:") and line.endswith(" ack ccfb") for line in lines(sdp))


def with_bandwidth(sdp: str, kbps: int) -> str:
    """Return the description with the end's maximum receiving rate in each video section.

    libwebrtc takes `b=AS` as its maximum sending rate. Its initial probing then exceeds 5 Mbit/s.
    """
    result, in_video = [], False
    for line in lines(sdp):
        if line.startswith("m="):
            in_video = line.startswith("m=video")
        if in_video and line.startswith("b="):
            continue
        result.append(line)
        # RFC 8866, section 5: b= directly follows c=.
        if in_video and line.startswith("c="):
            result.append(f"b=AS:{kbps}")
    return "\r\n".join(result) + "\r\n"
