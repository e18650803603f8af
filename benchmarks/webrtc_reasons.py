"""Why figures of `webrtc.py` differ: seen in the runs' series (`flows.parquet`), simulated with one thing changed."""

_LAZY_ENCODER = (
    "Chromium's encoder takes 70 to 80 % of its target in the first 3 s (`target_rate` 2.7 to 3.0 of `gcc_target` 3.7 "
    "to 4.2, which are ours to the tenth); the model takes 94 % after half a second."
)
_PUSH_BACK = (
    "Chromium pushes back while too much is in flight: the encoder gets 0.03 Mbit/s and drops frames (`gcc_target` "
    "0.03 beside `gcc_estimate` 0.8 in the drop and 3.8 in the outage; 2 and 15 frames/s). Our `gcc` has no push-back: "
    "it goes on at its target."
)
_PUSH_BACK_LATER = (
    "Chromium's encoder is pushed back to 0.03 Mbit/s while the queue of the drop stands (`gcc_target`; our `gcc` has "
    "no push-back). With next to nothing to send, what arrives falls to 0.4 Mbit/s and the estimate with it. From "
    "there both grow alike, by 2.2 times until 12 s after the return."
)
_REPEATS = (
    "Chromium repeats 0.4 MB of what the outage has lost, ours all of it (2 MB), however old. Its pacer empties the "
    "backlog within 2 s, at 8 Mbit/s into 4, and the losses that follow hold the rate. Before that, the losses of the "
    "outage alone lower our estimate to 0.3 Mbit/s and Chromium's not at all; why not is unknown. Without the "
    "loss-based part (`--set gcc.loss_based=false`) ours has 2.9 Mbit/s in the 5 s after the outage."
)
_WIDE_WINDOW = (
    "Chromium's target is window / (RTT + time between reports), half of window / RTT here: `ref_window` / "
    "`scream_target` less `srtt` is 56 to 60 ms in every run, its reports are 53 to 56 ms apart (with RFC 8888 25 and "
    "27 ms). The draft's is 1 / 1.2 of window / RTT. A window that is larger for the same rate grows and swings more "
    "slowly, as `as libwebrtc` shows."
)
_SLOW_RETURN = (
    "The same, and less frequent reports: one run of `chromium-scream-l4s`, which is Chromium with RFC 8888, took "
    "5.6 s. What remains is not explained: for 3 to 4 s after the return Chromium's window hardly grows (`ref_window` "
    "16 to 25 kB), then by half per second."
)
_FEEDBACK = (
    "Ours reports as RFC 8888 does, after 10 ms or 16 packets; `chromium-scream` has transport-wide feedback, every 53 "
    "to 56 ms, and repeats lost packets (0.2 MB, 1.5 s of the link), which ours does not. One run of "
    "`chromium-scream-l4s`, Chromium with RFC 8888: queue gone after 0.6 s, 36 packets dropped."
)
_SILENT_PICTURE = (
    "Chromium's picture stops until its queue of media and repeated packets is gone and a whole frame fits the low "
    "rate (`encoded_frame_rate` 0 to 1 for 2 to 3 s; with RFC 8888 too: 4.0 s frozen). The model skips frames only "
    "while the oldest has waited for 0.4 s."
)
_TIMER = (
    "Ours takes everything in flight for lost after each second without reports, lowers the window and sends on. "
    "Chromium waits, with a few packets a second; so does `as libwebrtc`, without any."
)
_KEY_FRAME = (
    "Our model of an encoder forgets requests for a key frame that come within 0.3 s of the last one, so when a key "
    "frame itself is lost the picture stays frozen: an error of the model, not of the controller."
)
_MIXED = (
    "Our SCReAM takes more than its share from GCC, Chromium's less; with Chromium's window and reports (`as "
    "libwebrtc`) ours takes as little."
)
_PAIR_DELAY = (
    "Chromium's larger window swings less, and so does the queue: alone with its like `as libwebrtc` shows it. Beside "
    "GCC it does not; there it is GCC that fills the queue in the simulation, and did not in Chromium's two runs."
)

STEADY, DROP, OUTAGE, TWO = "steady-4mbps", "drop-5-1-5mbps", "outage-5s", "two-calls"

REASONS: dict[tuple[str, str, str], str] = {  # by path, our scheme and figure
    (STEADY, "gcc", "first second above 80 % of the link ends, s"): _LAZY_ENCODER,
    (STEADY, "scream", "first second above 80 % of the link ends, s"): _WIDE_WINDOW,
    (DROP, "gcc", "last 5 s at 1 Mbit/s, Mbit/s"): _PUSH_BACK_LATER,
    (DROP, "gcc", "12th second after the return, Mbit/s"): _PUSH_BACK_LATER,
    (DROP, "gcc", "freezes after 2 s"): _PUSH_BACK,
    (DROP, "gcc", "picture frozen, s"): _PUSH_BACK,
    (DROP, "scream", "queue of the drop gone, s"): _FEEDBACK,
    (DROP, "scream", "packets dropped at 1 Mbit/s"): _FEEDBACK,
    (DROP, "scream", "last 5 s at 1 Mbit/s, Mbit/s"): _WIDE_WINDOW,
    (DROP, "scream", "4 Mbit/s reached after the return, s"): _SLOW_RETURN,
    (DROP, "scream", "freezes after 2 s"): _SILENT_PICTURE,
    (DROP, "scream", "picture frozen, s"): _SILENT_PICTURE,
    (OUTAGE, "gcc", "packets sent per s after that"): _PUSH_BACK,
    (OUTAGE, "gcc", "packets dropped"): _PUSH_BACK,
    (OUTAGE, "gcc", "queue of the outage gone, s after it"): _REPEATS,
    (OUTAGE, "gcc", "5 s after the outage, Mbit/s"): _REPEATS,
    (OUTAGE, "gcc", "first 3 s above 80 % of the link end, s after it"): _REPEATS,
    (OUTAGE, "gcc", "last 5 s, Mbit/s"): _REPEATS,
    (OUTAGE, "gcc", "picture frozen, s"): _REPEATS,
    (OUTAGE, "scream", "packets sent per s after that"): _TIMER,
    (OUTAGE, "scream", "packets dropped"): _TIMER,
    (OUTAGE, "scream", "5 s after the outage, Mbit/s"): _TIMER,
    (OUTAGE, "scream", "first 3 s above 80 % of the link end, s after it"): _TIMER,
    (OUTAGE, "scream", "picture frozen, s"): _KEY_FRAME,
    (TWO, "scream", "delay p95, ms"): _PAIR_DELAY,
    (TWO, "gcc+scream", "delay p95, ms"): _PAIR_DELAY,
    (TWO, "gcc+scream", "first, Mbit/s"): _MIXED,
    (TWO, "gcc+scream", "second, Mbit/s"): _MIXED,
}
