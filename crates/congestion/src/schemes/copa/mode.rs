//! Copa's mode switching: additive increase of 1/delta while another flow keeps the queue filled.

use crate::Ack;
use crate::parts::{Rounds, WindowedMax};

/// Fraction of `RTTmax` - `RTTmin` below which a queueing delay means "nearly empty".
const EMPTY_SHARE: f64 = 0.1;
/// Window of `RTTmax`, as a number of RTTs.
const MAX_RTT_ROUNDS: u64 = 4;
#[derive(Debug)]
pub(super) struct ModeSwitch {
    default_delta: f64,
    /// Number of round trips without a nearly empty queue that prove a buffer-filling flow.
    filled_rounds: i64,
    delta: f64,
    is_competitive: bool,
    /// Maximum RTT, ns by ns.
    max_rtt: WindowedMax<u64>,
    rounds: Rounds,
    /// Number of round trips since the queue was nearly empty.
    rounds_filled: i64,
    has_loss: bool,
}

impl ModeSwitch {
    pub(super) fn new(default_delta: f64, filled_rounds: i64) -> Self {
        Self {
            default_delta,
            filled_rounds,
            delta: default_delta,
            is_competitive: false,
            max_rtt: WindowedMax::new(0),
            rounds: Rounds::default(),
            rounds_filled: 0,
            has_loss: false,
        }
    }

    /// Resets the state.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.default_delta, self.filled_rounds);
    }

    pub(super) fn is_competitive(&self) -> bool {
        self.is_competitive
    }

    /// Handles one ACK, with `RTTmin` and the queueing delay in ns; returns delta.
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>, min_rtt: u64, queueing: u64) -> f64 {
        if let Some(rtt) = ack.rtt {
            self.max_rtt.set_length((ack.srtt * MAX_RTT_ROUNDS).as_ns());
            self.max_rtt.push(ack.now.as_ns(), rtt.as_ns());
        }
        let range = self.max_rtt.get().unwrap_or(min_rtt).saturating_sub(min_rtt);
        let has_round_ended = self.rounds.ended(ack);
        if queueing as f64 <= EMPTY_SHARE * range as f64 {
            self.rounds_filled = 0;
            self.is_competitive = false;
            self.delta = self.default_delta;
        } else if has_round_ended {
            self.rounds_filled += 1;
            if self.is_competitive {
                if !self.has_loss {
                    self.delta = 1.0 / (1.0 / self.delta + 1.0);
                }
            } else {
                self.is_competitive = self.rounds_filled >= self.filled_rounds;
            }
        }
        if has_round_ended {
            self.has_loss = false;
        }
        self.delta
    }

    /// Handles the beginning of a loss episode (at most one per round trip); returns delta.
    pub(super) fn on_loss(&mut self) -> f64 {
        if self.is_competitive {
            self.delta = (2.0 * self.delta).min(self.default_delta);
            self.has_loss = true;
        }
        self.delta
    }
}
