//! Receiver-side half: transport-wide feedback, frequent enough to be useful and rare enough to be cheap (libwebrtc
//! M150, `modules/remote_bitrate_estimator/transport_sequence_number_feedback_generator.cc`).
//!
//! Every ACK carries arrival times anyway. A report of RTCP needs bytes for them, which are added as padding: status
//! chunks and receive deltas (draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1).

use super::numbers::{ms, rate_of, signed_ms};
use crate::{Arrived, Parameters, ReceiverHalf};
use units::{Span, Time};

/// Fraction of the received rate that reports may use, and size of a report in bits.
const SHARE: f64 = 0.05;
const REPORT_BITS: f64 = 68.0 * 8.0;
/// Interval before a rate is known.
const INITIAL_INTERVAL: Span = ms(100);
/// Time over which the received rate is measured, ms.
const RATE_MS: f64 = 500.0;
/// Maximum receive delta that takes one byte, ms.
const SMALL_DELTA_MS: f64 = 63.75;
/// Number of packets per status chunk of two bytes.
const PER_CHUNK: u64 = 7;

/// Generator of periodic reports.
#[derive(Debug)]
pub(super) struct Feedback {
    shortest: Span,
    longest: Span,
    interval: Span,
    next: Time,
    started: bool,
    /// Number of packets to be reported, and bytes of their receive deltas.
    packets: u64,
    delta_bytes: u64,
    last_arrival: Time,
    /// First and last packet number to be reported.
    numbers: (u64, u64),
    /// Beginning and bytes of the rate measurement.
    rate_since: Time,
    rate_bytes: f64,
    padding_bytes: u32,
}

impl Feedback {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let shortest = Span::from_secs_f64(parameters.number("feedback_min_ms") / 1e3);
        let longest = Span::from_secs_f64(parameters.number("feedback_max_ms") / 1e3).max(shortest);
        Self {
            shortest,
            longest,
            interval: INITIAL_INTERVAL.clamp(shortest, longest),
            next: Time::ZERO,
            started: false,
            packets: 0,
            delta_bytes: 0,
            last_arrival: Time::ZERO,
            numbers: (0, 0),
            rate_since: Time::ZERO,
            rate_bytes: 0.0,
            padding_bytes: 0,
        }
    }

    fn start(&mut self, now: Time) {
        self.started = true;
        self.next = now + self.interval;
        (self.last_arrival, self.rate_since) = (now, now);
    }

    fn measure(&mut self, event: &Arrived) {
        self.rate_bytes += f64::from(event.datagram_bytes);
        let length_ms = signed_ms(event.now, self.rate_since);
        if length_ms < RATE_MS {
            return;
        }
        let rate = rate_of(self.rate_bytes, length_ms);
        let interval = Span::from_secs_f64(REPORT_BITS / (SHARE * rate));
        self.interval = interval.clamp(self.shortest, self.longest);
        (self.rate_since, self.rate_bytes) = (event.now, 0.0);
    }
}

impl ReceiverHalf for Feedback {
    fn on_packet(&mut self, event: &Arrived) {
        if !self.started {
            self.start(event.now);
        }
        self.measure(event);
        if self.packets == 0 {
            // Intervals without arrivals pass without a report.
            if self.next <= event.now {
                self.next = event.now + self.interval;
            }
            self.numbers = (event.number, event.number);
        }
        let (first, last) = self.numbers;
        let is_small = event.number >= last && signed_ms(event.now, self.last_arrival) <= SMALL_DELTA_MS;
        self.delta_bytes += if is_small { 1 } else { 2 };
        self.packets += 1;
        self.numbers = (first.min(event.number), last.max(event.number));
        self.last_arrival = event.now;
    }

    fn next_timer(&self) -> Time {
        if self.packets == 0 { Time::NEVER } else { self.next }
    }

    fn write_feedback(&mut self, now: Time, _feedback: &mut Vec<u8>) {
        let statuses = if self.packets == 0 { 0 } else { self.numbers.1 - self.numbers.0 + 1 };
        let bytes = 2 * statuses.div_ceil(PER_CHUNK) + self.delta_bytes;
        self.padding_bytes = u32::try_from(bytes.next_multiple_of(4)).unwrap_or(u32::MAX);
        (self.packets, self.delta_bytes) = (0, 0);
        self.next = now + self.interval;
    }

    fn padding_bytes(&self) -> u32 {
        self.padding_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn feedback() -> Feedback {
        Feedback::new(&Parameters::defaults(super::super::ENTRY.parameters))
    }

    fn arrive(half: &mut Feedback, number: u64, ms: u64, datagram_bytes: u32) {
        half.on_packet(&Arrived { now: at(ms), number, datagram_bytes, ..Arrived::default() });
    }

    /// Sends packets of 500 B every `gap_ms` for two seconds; returns the interval between the last two reports.
    fn interval(gap_ms: u64) -> Span {
        let (mut half, mut reports) = (feedback(), vec![]);
        for index in 0..2000 / gap_ms {
            let now = index * gap_ms;
            while half.next_timer() <= at(now) {
                reports.push(half.next_timer());
                half.write_feedback(half.next_timer(), &mut vec![]);
            }
            arrive(&mut half, index, now, 500);
        }
        reports[reports.len() - 1] - reports[reports.len() - 2]
    }

    #[test]
    fn reports_take_five_percent_of_the_rate_between_50_and_250_ms() {
        assert_eq!(interval(10), ms(50));
        // 100 kbit/s give 544 bit / 5 kbit/s = 108.8 ms; the first and last packet of a window both count.
        let slow = interval(40).as_ms_f64();
        assert!((98.0..=109.0).contains(&slow), "{slow}");
    }

    #[test]
    fn the_first_report_comes_after_100_ms_and_silence_is_not_reported() {
        let mut half = feedback();
        arrive(&mut half, 0, 10, 500);
        assert_eq!(half.next_timer(), at(110));
        half.write_feedback(at(110), &mut vec![]);
        assert_eq!(half.next_timer(), Time::NEVER);
    }

    #[test]
    fn a_report_grows_with_packets_and_gaps() {
        let mut half = feedback();
        for (number, ms) in [(0, 0), (1, 10), (3, 20), (9, 90)] {
            arrive(&mut half, number, ms, 500);
        }
        half.write_feedback(at(100), &mut vec![]);
        // Ten statuses take two chunks of two bytes; deltas take 1 + 1 + 1 + 2.
        assert_eq!(half.padding_bytes(), 12);
    }
}
