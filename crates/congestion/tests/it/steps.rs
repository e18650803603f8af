//! Events of a flow, as random sequences of steps.

use proptest::prelude::*;

/// Event of a controller.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Time passes, ns.
    Pass(u64),
    /// At most this many packets leave, within the window; one may always leave if nothing is in flight.
    Send(u8),
    /// An ACK skips some outstanding packets and acknowledges `count` others. `way` / 255 of the RTT was the way to the
    /// receiver.
    Ack { skip: u8, count: u8, way: u8, delay_us: u16, limited: bool },
    /// The oldest packets are lost.
    Lose(u8),
    /// The timer expires.
    Timeout { persistent: bool },
    /// Packets are acknowledged with marks.
    Mark(u8),
    /// The last loss episode proves spurious.
    FalseAlarm,
    /// Time passes until the controller's own timer, if it has one.
    Wake,
    /// The encoder of a live flow writes a frame.
    Frame { bytes: u32, key: bool },
    /// Time passes until the timer of the receiver-side half; its report arrives without packets, or is lost.
    Report { lost: bool },
    /// The latest feedback arrives again, with one byte changed, or cut at that byte.
    Mangled { at: u16, value: u8, cut: bool },
    /// Random bytes arrive as feedback.
    Noise(Vec<u8>),
}

/// Returns spans from 1 ns to 10 days; small ones are as likely as large ones.
fn span_ns() -> impl Strategy<Value = u64> {
    (0_u32..50, 1_u64..1000)
        .prop_map(|(exponent, mantissa)| ((mantissa << exponent) / 1000).clamp(1, 864_000_000_000_000))
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => span_ns().prop_map(Step::Pass),
        3 => (1_000_u64..400_000_000).prop_map(Step::Pass),
        4 => any::<u8>().prop_map(Step::Send),
        8 => (0_u8..4, 1_u8..64, any::<u8>(), any::<u16>(), any::<bool>()).prop_map(
            |(skip, count, way, delay_us, limited)| Step::Ack { skip: skip.saturating_sub(1), count, way, delay_us, limited }
        ),
        1 => (1_u8..20).prop_map(Step::Lose),
        1 => any::<bool>().prop_map(|persistent| Step::Timeout { persistent }),
        1 => (1_u8..20).prop_map(Step::Mark),
        1 => Just(Step::FalseAlarm),
        2 => Just(Step::Wake),
        2 => (1_u32..200_000, any::<bool>()).prop_map(|(bytes, key)| Step::Frame { bytes, key }),
        2 => prop::bool::weighted(0.2).prop_map(|lost| Step::Report { lost }),
        1 => (0_u16..200, any::<u8>(), any::<bool>()).prop_map(|(at, value, cut)| Step::Mangled { at, value, cut }),
        1 => prop::collection::vec(any::<u8>(), 0..120).prop_map(Step::Noise),
    ]
}
