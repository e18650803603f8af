//! `RemyCC`: a table of precomputed rules maps signals from ACKs to a window and a time between packets.
//!
//! Source: Winstein and Balakrishnan, "TCP ex Machina", SIGCOMM 2013, section 4; Sivaraman et al., "An Experimental
//! Study of the Learnability of Congestion Control", SIGCOMM 2014 (Tao); tcpexmachina/remy@e3cc4d8, `src/memory.cc`,
//! `src/rat.cc`, `src/whisker.cc`. Pantheon ran venkatarun95/genericCC@80b516c, `memory-default.cc`, `remycc.cc`,
//! `ctcp.hh`.
//!
//! There are four signals, in ms but for the third: averages of the times between acknowledged packets at their
//! departure and at their arrival (weight 1/8), the last RTT over the minimum, and the second average with weight
//! 1/256. The first ACK leaves all four at zero. Every ACK looks up the rule for the signals and applies it: the window
//! becomes `multiple` times itself plus `increment`, cut to whole packets; packets are `intersend` apart. There is no
//! reaction to losses.
//!
//! Expected: two senders that are on and off for a second on average, with a base RTT of 150 ms and the table of link
//! rates from 3.2 to 320 Mbit/s (tcpexmachina/remy@a7e7a42, tests/verify-2014; figure 2 of the paper of 2014):
//!
//! - links of 2.21, 9.93, 29.41, 185.04, 300.25 and 401.4 Mbit/s:
//! - throughputs of 1.8, 6.0, 18.0, 91.1, 133.1 and 146 Mbit/s;
//! - mean RTTs of 346, 165, 174, 157, 152 and 151 ms.

mod dna;
mod file;
mod memory;
mod rules;
mod table;
mod text;
mod tree;

use crate::parts::copa_gcc::pacing;
use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Parameter, Parameters, Start, Timeout};
use core::fmt::Debug;
pub use memory::{Memory, SIGNALS, Signals};
pub use rules::{Action, DOMAIN, MAX_INTERSEND_MS, MAX_WINDOW, Rule};
use std::sync::Arc;
use strict_input::Refusal;
pub use table::Table;
pub use text::Written;
use units::Time;

/// Window of the program before the first ACK, without pacing.
const PROGRAM_WINDOW: u32 = 2;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "remy",
    summary: "RemyCC (SIGCOMM 2013, 2014; venkatarun95/genericCC@80b516c): a table of rules from ACKs to window and pacing",
    parameters: &[
        Parameter::needed_file(
            "table",
            "The rules: a table of `dumbbell train remy`, or a .dna file of Remy itself.",
        ),
        Parameter::choice(
            "shell",
            "generic-cc",
            &["generic-cc", "training"],
            "Whose habits: the program's (receiver's stamps, averages of packets in order alone, one packet more than \
             the window) or those of the network that Remy trains in (the time ACKs arrive, all of them).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Fallible(|parameters, start| Ok(Box::new(Remy::of_file(parameters, start)?))),
};

/// Program whose behavior a controller follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// Program that Pantheon ran.
    GenericCc,
    /// Senders of the network in which Remy trains.
    Training,
}

/// Observer of the looked-up rules.
pub trait Lookups: Debug + Send {
    /// Reports that `signals` fall into rule number `rule`.
    fn found(&mut self, rule: usize, signals: &Signals);
}

/// Ignores the reports.
impl Lookups for () {
    fn found(&mut self, _rule: usize, _signals: &Signals) {}
}

/// Sender that follows a table.
#[derive(Debug)]
pub struct Remy<L = ()> {
    table: Arc<Table>,
    shell: Shell,
    lookups: L,
    mss_bytes: f64,
    start: Time,
    memory: Memory,
    /// Rule in force: most ACKs fall into the rule of the ACK before.
    rule: usize,
    window: u32,
    intersend_ms: f64,
    /// Number of the flow's first packet. Packets with smaller numbers belong to an earlier flow.
    first_number: u64,
}

impl Remy {
    fn of_file(parameters: &Parameters, start: &Start) -> Result<Self, Refusal> {
        let file = parameters.needed_file("table", "a table of rules")?;
        let table = file
            .contents
            .made(Table::read)
            .map_err(|error| error.at(format!("`table` = `{}`", file.name)))?;
        let shell = match parameters.choice("shell") {
            "training" => Shell::Training,
            _ => Shell::GenericCc,
        };
        Ok(Self::new(table, shell, (), start))
    }
}

impl<L: Lookups> Remy<L> {
    /// Returns a sender that follows `table` and reports to `lookups`.
    pub fn new(table: Arc<Table>, shell: Shell, lookups: L, start: &Start) -> Self {
        let mut remy = Self {
            table,
            shell,
            lookups,
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            start: start.now,
            memory: Memory::default(),
            rule: 0,
            window: 0,
            intersend_ms: 0.0,
            first_number: 0,
        };
        remy.begin();
        remy
    }

    /// Resets the state for a new flow.
    fn begin(&mut self) {
        self.memory = Memory::default();
        match self.shell {
            Shell::GenericCc => (self.window, self.intersend_ms) = (PROGRAM_WINDOW, 0.0),
            Shell::Training => {
                self.window = 0;
                self.apply();
            }
        }
    }

    fn apply(&mut self) {
        let signals = self.memory.signals();
        self.rule = self.table.find(signals, self.rule);
        self.lookups.found(self.rule, signals);
        let action = &self.table.rules()[self.rule].action;
        self.window = action.window_after(self.window);
        self.intersend_ms = action.intersend_ms;
    }

    fn ms(&self, time: Time) -> f64 {
        time.since(self.start).as_ms_f64()
    }
}

impl<L: Lookups> Controller for Remy<L> {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let now_ms = self.ms(ack.now);
        let first_number = self.first_number;
        for packet in ack.packets.iter().filter(|packet| packet.number >= first_number) {
            let sent_ms = self.ms(packet.sent_at);
            match self.shell {
                Shell::GenericCc => {
                    // The offset between the clocks is constant, so it cancels in every difference.
                    let received_ms = (packet.received_at.as_ns() as f64 - self.start.as_ns() as f64) / 1e6;
                    self.memory.on_ack_in_order(packet.number, sent_ms, received_ms, now_ms);
                }
                Shell::Training => self.memory.on_ack(sent_ms, now_ms, now_ms),
            }
            self.apply();
        }
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.begin();
    }

    fn on_anew(&mut self, _now: Time, next_number: u64) {
        self.first_number = next_number;
        self.begin();
    }

    fn control(&self) -> Control {
        // The program sends while the first unacknowledged packet is at most a window ago.
        let packets = f64::from(self.window) + f64::from(u8::from(self.shell == Shell::GenericCc));
        Control {
            pacing: pacing(self.mss_bytes, self.intersend_ms),
            ..Control::window((packets * self.mss_bytes) as u64)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let [send, receive, ratio, slow] = *self.memory.signals();
        sink.put("cwnd", "packets", f64::from(self.window));
        sink.put("intersend", "ms", self.intersend_ms);
        sink.put("rule", "", self.rule as f64);
        sink.put("send_ewma", "ms", send);
        sink.put("receive_ewma", "ms", receive);
        sink.put("rtt_ratio", "", ratio);
        sink.put("slow_receive_ewma", "ms", slow);
    }
}

#[cfg(test)]
mod tests;
