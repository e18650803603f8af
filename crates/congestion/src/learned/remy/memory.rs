//! Signals that a sender computes from its ACKs.

/// Number of signals.
pub const SIGNALS: usize = 4;

/// Signals of a sender: averages of the times between packets sent, and between packets received, in ms; the last RTT
/// over the minimum; the average time between packets received with a slower weight.
pub type Signals = [f64; SIGNALS];

/// Weights of the newest time: fast and slow.
const FAST: f64 = 1.0 / 8.0;
const SLOW: f64 = 1.0 / 256.0;

/// Signals and the values that they are computed from; times in ms.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    signals: Signals,
    /// Times of sending and receipt of the last packet that counts.
    last: Option<(f64, f64)>,
    min_rtt_ms: f64,
    /// Number of the next packet in order.
    next_number: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self { signals: [0.0; SIGNALS], last: None, min_rtt_ms: f64::INFINITY, next_number: 0 }
    }
}

impl Memory {
    /// Returns the present signals.
    pub const fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Handles an ACK that arrives at `now_ms`, for a packet that was sent at `sent_ms` and received at `received_ms`.
    pub fn on_ack(&mut self, sent_ms: f64, received_ms: f64, now_ms: f64) {
        let is_first = self.last.is_none();
        self.note_times(sent_ms, received_ms);
        self.note_rtt(now_ms - sent_ms, is_first);
    }

    /// Handles the ACK of packet `number` like genericCC: only packets that follow the last acknowledged one change the
    /// averages.
    pub fn on_ack_in_order(&mut self, number: u64, sent_ms: f64, received_ms: f64, now_ms: f64) {
        let is_first = self.last.is_none();
        if is_first || number == self.next_number {
            self.note_times(sent_ms, received_ms);
        }
        self.note_rtt(now_ms - sent_ms, is_first);
        self.next_number = self.next_number.max(number + 1);
    }

    fn note_times(&mut self, sent_ms: f64, received_ms: f64) {
        if let Some((last_sent, last_received)) = self.last {
            let [send, receive, _, slow] = &mut self.signals;
            let between = received_ms - last_received;
            *send = (1.0 - FAST) * *send + FAST * (sent_ms - last_sent);
            *receive = (1.0 - FAST) * *receive + FAST * between;
            *slow = (1.0 - SLOW) * *slow + SLOW * between;
        }
        self.last = Some((sent_ms, received_ms));
    }

    fn note_rtt(&mut self, rtt_ms: f64, is_first: bool) {
        self.min_rtt_ms = self.min_rtt_ms.min(rtt_ms);
        if !is_first && self.min_rtt_ms > 0.0 {
            self.signals[2] = rtt_ms / self.min_rtt_ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ack_leaves_all_signals_at_zero_and_the_second_begins_the_averages() {
        let mut memory = Memory::default();
        memory.on_ack(10.0, 110.0, 110.0);
        assert_eq!(memory.signals(), &[0.0; 4]);
        memory.on_ack(14.0, 118.0, 134.0);
        // 4 ms and 8 ms have the weight 1/8, the ratio is 120 ms over 100 ms, and 8 ms has the weight 1/256.
        assert_eq!(memory.signals(), &[0.5, 1.0, 1.2, 0.03125]);
        memory.on_ack(15.0, 120.0, 120.0);
        assert_eq!(memory.signals(), &[0.5625, 1.125, 1.05, 0.03125 * 255.0 / 256.0 + 2.0 / 256.0]);
    }

    #[test]
    fn in_the_program_a_packet_after_a_gap_changes_the_ratio_alone() {
        let mut memory = Memory::default();
        memory.on_ack_in_order(0, 0.0, 50.0, 100.0);
        memory.on_ack_in_order(1, 8.0, 58.0, 108.0);
        let averages = *memory.signals();
        assert_eq!(averages, [1.0, 1.0, 1.0, 0.03125]);
        memory.on_ack_in_order(3, 24.0, 80.0, 174.0);
        assert_eq!(memory.signals(), &[1.0, 1.0, 1.5, 0.03125]);
        // The next packet in order is compared with the last one in order, over the whole gap.
        memory.on_ack_in_order(4, 32.0, 90.0, 132.0);
        assert_eq!(memory.signals(), &[0.875 + 3.0, 0.875 + 4.0, 1.0, 0.03125 * 255.0 / 256.0 + 0.125]);
        // A late packet changes no average either.
        memory.on_ack_in_order(2, 16.0, 91.0, 136.0);
        assert_eq!(memory.signals()[2], 1.2);
        assert_eq!(memory.signals()[0], 3.875);
    }
}
