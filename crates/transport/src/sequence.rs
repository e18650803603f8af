//! What depends on sequence rather than on packet numbers: the third part of [`Sender`]. The rules are RFC 6675's as ns-3
//! follows them (reference `ccperf` 9.3 and 9.5), each behind a switch of [`crate::Config`].

use crate::config::{Recovery, TimerRestart};
use crate::scoreboard::{Progress, Scoreboard};
use crate::sender::Sender;
use crate::sent::{Fate, SentPacket};
use units::{Span, Time};

impl Sender {
    /// Sums up what the packets in `self.acked` mean for the stream, which is complete up to `complete`.
    pub(crate) fn take_progress(&mut self, complete: u64) {
        self.progress = match self.board.take() {
            Some(mut board) => {
                self.note_arrivals(&mut board, complete);
                let progress = board.advance(complete);
                self.board = Some(board);
                progress
            }
            // Nobody else asks.
            None if self.config.cumulative_growth || self.config.recovery == Recovery::PrrNs3 => {
                self.sum_acked(complete)
            }
            None => Progress::default(),
        };
        self.progress.advanced = complete.saturating_sub(self.complete);
        self.complete = self.complete.max(complete);
    }

    fn note_arrivals(&mut self, board: &mut Scoreboard, complete: u64) {
        for index in 0..self.acked.len() {
            let number = self.acked[index].number;
            let Some(packet) = self.arrived(number) else { continue };
            if let Some(latest) = board.on_arrived(packet.offset, complete).filter(|latest| *latest != number)
            {
                self.retire(latest);
            }
        }
    }

    fn sum_acked(&self, complete: u64) -> Progress {
        let mut progress = Progress::default();
        for acked in &self.acked {
            let Some(packet) = self.arrived(acked.number) else { continue };
            let bytes = u64::from(packet.payload_bytes);
            let is_above = packet.offset + bytes > complete;
            progress.delivered += bytes;
            progress.sacked += if is_above { bytes } else { 0 };
            progress.retransmission |= acked.retransmission && !is_above;
        }
        progress
    }

    /// The packet, if it arrived: of a packet acknowledged in parts only the last part says so.
    fn arrived(&self, number: u64) -> Option<&SentPacket> {
        self.sent.get(number).filter(|packet| packet.fate == Fate::Acked)
    }

    /// The payload of packet `number` arrived in another packet: it is out of the flight.
    fn retire(&mut self, number: u64) {
        if let Some(packet) = self.sent.get_mut(number).filter(|packet| packet.fate == Fate::InFlight) {
            packet.fate = Fate::Acked;
            self.in_flight -= u64::from(packet.payload_bytes);
        }
    }

    /// When the packet left that the RTT is to be taken from: with a scoreboard the first one that the stream's completion
    /// passed, if it was sent once.
    pub(crate) fn timed_packet(&self, newest_sent_at: Time) -> Option<Time> {
        if self.board.is_none() || self.next_offset == 0 {
            return Some(newest_sent_at);
        }
        self.progress.timed.and_then(|number| self.sent.get(number)).map(|packet| packet.sent_at)
    }

    /// Time between two moments as clocks of `timestamp_ms` count it.
    pub(crate) fn elapsed(&self, from: Time, to: Time) -> Span {
        if self.config.timestamp_ms == 0.0 {
            return to - from;
        }
        let tick = Span::from_secs_f64(self.config.timestamp_ms / 1e3).as_ns().max(1);
        // Within one tick nothing would have passed; ns-3 takes a microsecond.
        Span::from_ns((to.as_ns() / tick - from.as_ns() / tick) * tick).max(Span::from_us(1))
    }

    /// Losses by sequence into `self.lost`; returns whether they begin an episode: on the third duplicate ACK, or on any
    /// while the first missing segment is marked as lost, be its retransmission under way or not.
    pub(crate) fn mark_by_sequence(&mut self) -> bool {
        let Some(mut board) = self.board.take() else { return false };
        if self.progress.sacked > 0 {
            board.mark(self.config.packet_threshold, |number| self.lose(number));
        }
        let is_open = !self.episode.is_active() && !self.episode.is_after_timeout(board.una());
        let begins = is_open
            && self.progress.sacked > 0
            && (board.duplicates == self.config.packet_threshold || board.is_head_lost());
        if begins
            && !board.is_head_lost()
            && let Some(number) = board.mark_head()
        {
            self.lose(number);
        }
        self.board = Some(board);
        begins
    }

    /// An episode has begun: the first missing segment leaves (again). What it counts in the flight by which the window
    /// was reduced was its retransmission.
    pub(crate) fn resend_head(&mut self) {
        let head = self.board.as_mut().filter(|board| board.is_head_retransmitted());
        let Some(number) = head.and_then(Scoreboard::mark_head) else { return };
        let queued = self.resend.len();
        self.lose(number);
        if self.resend.len() > queued {
            self.resend.rotate_right(1);
        }
    }

    /// After the losses of an ACK within an episode: the first missing segment leaves at once if it never was sent again
    /// (a partial ACK of RFC 6582).
    pub(crate) fn answer_partial_ack(&mut self) {
        let Some(board) = &self.board else { return };
        if self.episode.is_active() && self.progress.advanced > 0 && !board.is_head_retransmitted() {
            self.probes = self.probes.max(1);
        }
    }

    /// Everything outstanding was declared lost: where sequence counts it is sent again in that order.
    pub(crate) fn restart_by_sequence(&mut self) {
        if let Some(board) = &mut self.board {
            board.mark_all();
        }
        // Where only the cumulative point tells of progress, nothing above it helps as long as what it waits for is missing.
        if self.board.is_some() || !self.config.sack {
            self.resend.make_contiguous().sort_unstable_by_key(|load| load.offset);
        }
    }

    /// Bytes that windows grow by: those in `acked_bytes`, or as the stream was completed.
    pub(crate) fn growth_bytes(&self, acked_bytes: u64) -> u64 {
        if !self.config.cumulative_growth {
            acked_bytes
        } else if self.progress.sacked == 0 || self.episode.is_after_timeout(self.complete) {
            self.progress.advanced
        } else {
            0
        }
    }

    /// Whether this ACK restarts the timer over outstanding packets.
    pub(crate) fn restarts_timer(&mut self) -> bool {
        match self.config.timer_restart {
            // Selective acknowledgements alone would put off for ever the timeout that a lost retransmission waits for.
            TimerRestart::Any => self.board.is_none() || self.progress.advanced > 0 || self.complete == 0,
            TimerRestart::FirstPartial => {
                self.progress.advanced > 0 && (!self.episode.is_active() || self.episode.is_first_partial())
            }
        }
    }

    /// Tells proportional rate reduction of one ACK.
    pub(crate) fn tell_prr(&mut self, acked_bytes: u64, is_safe: bool) {
        let (in_flight, payload) = (self.in_flight, u64::from(self.config.payload_bytes));
        let Progress { delivered, sacked, advanced, retransmission, .. } = self.progress;
        let Some(prr) = &mut self.prr else { return };
        if self.config.recovery == Recovery::PrrNs3 {
            // ns-3 asks once for what was selectively acknowledged and once for a partial ACK, each time with all bytes.
            for _ in 0..u8::from(sacked > 0) + u8::from(advanced > 0) {
                prr.on_ack_as_ns3(delivered, in_flight, payload, retransmission);
            }
        } else {
            prr.on_ack(acked_bytes, in_flight, payload, is_safe);
        }
    }
}
