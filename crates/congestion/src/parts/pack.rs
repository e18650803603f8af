//! PACK: the periodic report of `FillP`'s receiver, and the half that writes it.
//!
//! Every `P` the receiver reports two values for the time since the last PACK: the receive rate of payload, and the
//! missing fraction of the packet-number span (fillthepipe/fill-the-pipe@ec95853). The sender alone knows the round
//! trip, so it chooses `P` and sends it with every packet. A PACK leaves even if nothing arrived. The published
//! protocol also repairs losses with NACKs. Here the transport repairs them: its ACK of the same moment lists the
//! arrivals.

use crate::{Arrived, Message, ReceiverHalf};
use units::{Span, Time};

/// `P` until the first packet sets it (`pack_interval` of the shipped `ft.ini`).
const FIRST_INTERVAL: Span = Span::from_ms(30);
/// Number of consecutive empty PACKs after which PACKs become rare.
const EMPTY_PACKS: u32 = 5;
/// `P` after a longer time without arrivals (the no-data interval of the `OpenHarmony` code).
const IDLE_INTERVAL: Span = Span::from_ms(500);
/// Percent reported if nothing arrived.
const ALL_LOST: u8 = 100;

/// Contents of a PACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    /// Payload received since the last PACK over the time since then, kbit/s.
    pub(crate) rate_kbps: u32,
    /// Missing fraction of the packet-number span since the last PACK, whole percent; 100 if nothing arrived.
    pub(crate) loss_percent: u8,
}

impl Pack {
    /// Reads the PACK in an ACK's feedback; `None` without one.
    pub(crate) fn read(feedback: &[u8]) -> Option<Self> {
        let &[loss_percent, a, b, c, d] = feedback else { return None };
        Some(Self { rate_kbps: u32::from_le_bytes([a, b, c, d]), loss_percent })
    }

    fn write(self, feedback: &mut Vec<u8>) {
        feedback.push(self.loss_percent);
        feedback.extend_from_slice(&self.rate_kbps.to_le_bytes());
    }
}

/// Returns a packet's message to the receiver: the interval of PACKs.
pub(crate) const fn interval_message(interval: Span) -> Message {
    [interval.as_ns(), 0]
}

/// Returns the payload rate, whole kbit/s.
pub(crate) fn kbps(bytes: u64, elapsed: Span) -> u32 {
    if elapsed.is_zero() {
        return 0;
    }
    (bytes as f64 * 8e6 / elapsed.as_ns() as f64) as u32
}

/// Receiver, which measures between two PACKs.
#[derive(Debug)]
pub(crate) struct PackHalf {
    interval: Span,
    /// Beginning of the present measurement, at the last PACK; `None` before the first packet.
    since: Option<Time>,
    bytes: u64,
    packets: u64,
    /// Numbers after the largest reported packet and after the largest arrived packet.
    reported: u64,
    seen: u64,
    /// Number of consecutive empty PACKs.
    empty: u32,
}

impl PackHalf {
    pub(crate) const fn new() -> Self {
        Self { interval: FIRST_INTERVAL, since: None, bytes: 0, packets: 0, reported: 0, seen: 0, empty: 0 }
    }

    fn is_idle(&self) -> bool {
        self.empty >= EMPTY_PACKS && self.packets == 0
    }

    fn loss_percent(&self) -> u8 {
        if self.packets == 0 {
            return ALL_LOST;
        }
        let span = self.seen - self.reported;
        // Late packets belong to an earlier span, so more packets than the span may have come.
        (100 * span.saturating_sub(self.packets) / span.max(1)) as u8
    }
}

impl ReceiverHalf for PackHalf {
    fn on_packet(&mut self, event: &Arrived) {
        if event.message[0] > 0 {
            self.interval = Span::from_ns(event.message[0]);
        }
        if self.since.is_none() || self.is_idle() {
            self.since = Some(event.now);
            self.empty = 0;
        }
        self.bytes += u64::from(event.bytes);
        self.packets += 1;
        self.seen = self.seen.max(event.number + 1);
    }

    fn next_timer(&self) -> Time {
        let interval = if self.is_idle() { IDLE_INTERVAL.max(self.interval) } else { self.interval };
        self.since.map_or(Time::NEVER, |since| since + interval)
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        // An ACK that leaves for another reason (the connection's first) is not a PACK.
        let Some(since) = self.since.filter(|_| self.next_timer() <= now) else { return };
        Pack { rate_kbps: kbps(self.bytes, now - since), loss_percent: self.loss_percent() }.write(feedback);
        self.empty = if self.packets == 0 { self.empty.saturating_add(1) } else { 0 };
        self.since = Some(now);
        self.reported = self.seen;
        (self.bytes, self.packets) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn arrive(half: &mut PackHalf, ms: u64, number: u64) {
        let message = interval_message(Span::from_ms(20));
        half.on_packet(&Arrived { now: at(ms), number, bytes: 1300, message, ..Arrived::default() });
    }

    fn pack(half: &mut PackHalf, now: Time) -> Option<Pack> {
        let mut feedback = vec![];
        half.write_feedback(now, &mut feedback);
        Pack::read(&feedback)
    }

    #[test]
    fn rate_and_loss_are_those_since_the_last_pack() {
        let mut half = PackHalf::new();
        assert_eq!(half.next_timer(), Time::NEVER);
        arrive(&mut half, 10, 0);
        arrive(&mut half, 15, 4);
        assert_eq!((half.next_timer(), pack(&mut half, at(29))), (at(30), None));
        // Two packets of five arrive in 20 ms.
        assert_eq!(pack(&mut half, at(30)), Some(Pack { rate_kbps: 1040, loss_percent: 60 }));
        // The span continues after number 4: of three packets, number 5 is missing.
        arrive(&mut half, 31, 6);
        arrive(&mut half, 32, 7);
        assert_eq!(pack(&mut half, at(50)), Some(Pack { rate_kbps: 1040, loss_percent: 33 }));
    }

    #[test]
    fn late_packets_are_not_negative_loss() {
        let mut half = PackHalf::new();
        arrive(&mut half, 0, 3);
        pack(&mut half, at(20));
        (0..3).for_each(|number| arrive(&mut half, 21, number));
        assert_eq!(pack(&mut half, at(40)), Some(Pack { rate_kbps: 1560, loss_percent: 0 }));
    }

    #[test]
    fn without_data_packs_report_all_lost_and_become_rare_after_five() {
        let mut half = PackHalf::new();
        arrive(&mut half, 0, 0);
        pack(&mut half, at(20));
        for count in 2..=6 {
            assert_eq!(half.next_timer(), at(20 * count));
            assert_eq!(pack(&mut half, at(20 * count)), Some(Pack { rate_kbps: 0, loss_percent: 100 }));
        }
        assert_eq!(half.next_timer(), at(120 + 500));
        // The measurement of new data begins with its first packet.
        arrive(&mut half, 300, 1);
        assert_eq!(half.next_timer(), at(320));
        assert_eq!(pack(&mut half, at(320)), Some(Pack { rate_kbps: 520, loss_percent: 0 }));
        assert_eq!(half.next_timer(), at(340));
    }

    #[test]
    fn feedback_of_another_length_is_no_pack() {
        assert_eq!(Pack::read(&[]), None);
        assert_eq!(Pack::read(&[0; 6]), None);
    }
}
