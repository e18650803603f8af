//! Fates of the latest packets of a flow, from which false alarms are found: declared losses of packets that had
//! arrived or arrived later.

use record::{Event, Record};
use std::collections::{HashSet, VecDeque};

/// Number of packets that are remembered even if their fate is known, because declarations come late.
const REMEMBERED: usize = 1 << 13;
/// Maximum number of remembered packets.
const MOST: usize = 1 << 17;
/// Maximum number of times of false alarms that are kept.
const MOST_TIMES: usize = 1 << 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Arrived,
    Dropped,
}

/// Latest packets by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates {
    first: u64,
    latest: VecDeque<Fate>,
    /// Packets declared lost while in flight.
    doubted: HashSet<u64>,
    /// Times at which packets were declared lost that arrived.
    pub(super) false_alarms: Vec<u64>,
    pub(super) false_alarm_count: u64,
}

impl Fates {
    pub(super) fn record(&mut self, record: &Record) {
        match record.event {
            Event::Send => self.sent(record.seq),
            Event::Deliver => {
                self.set(record.seq, Fate::Arrived);
                if !self.doubted.is_empty() && self.doubted.remove(&record.seq) {
                    self.false_alarm(record.time_ns);
                }
            }
            Event::Drop => {
                self.set(record.seq, Fate::Dropped);
                self.doubted.remove(&record.seq);
            }
            Event::Lost => match self.get(record.seq) {
                Some(Fate::Arrived) => self.false_alarm(record.time_ns),
                Some(Fate::UnderWay) if self.doubted.len() < MOST => {
                    self.doubted.insert(record.seq);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn false_alarm(&mut self, time_ns: u64) {
        self.false_alarm_count += 1;
        if self.false_alarms.len() < MOST_TIMES {
            self.false_alarms.push(time_ns);
        }
    }

    fn sent(&mut self, seq: u64) {
        let next = self.first.saturating_add(self.latest.len() as u64);
        if seq < next {
            return;
        }
        if seq - next > MOST as u64 {
            self.latest.clear();
            self.first = seq;
        }
        let missing = seq - self.first.saturating_add(self.latest.len() as u64).min(seq);
        // skipped numbers belong to no packet
        self.latest.extend(std::iter::repeat_n(Fate::Dropped, missing as usize));
        self.latest.push_back(Fate::UnderWay);
        while self.latest.len() > MOST
            || (self.latest.len() > REMEMBERED
                && self.latest.front().is_some_and(|&fate| fate != Fate::UnderWay))
        {
            self.latest.pop_front();
            self.first += 1;
        }
    }

    fn place(&self, seq: u64) -> Option<usize> {
        usize::try_from(seq.checked_sub(self.first)?).ok().filter(|&place| place < self.latest.len())
    }

    fn set(&mut self, seq: u64, fate: Fate) {
        if let Some(place) = self.place(seq) {
            self.latest[place] = fate;
        }
    }

    fn get(&self, seq: u64) -> Option<Fate> {
        self.place(seq).map(|place| self.latest[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_are_false_if_the_packet_arrives_before_or_after() {
        let mut fates = Fates::default();
        let mut tell = |event, seq, time_ns| {
            let (flow, size_bytes, data_bytes, one_way_delay_ns) = (1, 1500, 1448, 0);
            fates.record(&Record { time_ns, flow, event, seq, size_bytes, data_bytes, one_way_delay_ns });
        };
        for seq in 0..6 {
            tell(Event::Send, seq, seq);
        }
        tell(Event::Deliver, 0, 10);
        tell(Event::Drop, 1, 10);
        tell(Event::Lost, 0, 20);
        tell(Event::Lost, 1, 20);
        tell(Event::Lost, 2, 20);
        tell(Event::Lost, 3, 20);
        tell(Event::Deliver, 2, 30);
        tell(Event::Drop, 3, 31);
        assert_eq!((fates.false_alarm_count, fates.false_alarms), (2, vec![20, 30]));
    }
}
