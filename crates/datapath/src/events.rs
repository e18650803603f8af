//! What happened to packets, in 16 bytes an event while the run lasts; packet records after it.

use core::iter::Peekable;
use record::{Event, Record};
use units::Time;

/// One event, or the detail that follows it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time of the event, ns; in a detail when its packet entered the path.
    time_ns: u64,
    /// From the lowest bits: 8 of event code (or [`DETAIL`]), 8 of flow, 16 of size, 32 of packet number. In a detail
    /// the upper 56 bits are payload bytes.
    word: u64,
}

/// Code of the entry that completes the one before.
const DETAIL: u8 = u8::MAX;

/// Most flows that an entry can name.
pub(crate) const MOST_FLOWS: usize = 255;

/// Entries of one block: 1 MiB, so that growing never copies.
const BLOCK: usize = 1 << 16;

/// The events of one direction, or those of one sender, in order of time.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    blocks: Vec<Vec<Entry>>,
    last_ns: u64,
    events: u64,
}

impl EventLog {
    /// Number of events.
    pub(crate) const fn len(&self) -> u64 {
        self.events
    }

    /// An event of packet `number` of `flow` (counted from 0). Events that the path dates back to when they were due come
    /// at the time of the event before them, which is at most the emulator's lateness later.
    #[inline]
    pub(crate) fn event(&mut self, time: Time, event: Event, flow: u32, number: u64, size_bytes: u32) {
        self.last_ns = self.last_ns.max(time.as_ns());
        self.events += 1;
        let word = event as u64
            | u64::from(flow as u8) << 8
            | u64::from(size_bytes as u16) << 16
            | u64::from(number as u32) << 32;
        self.push(Entry { time_ns: self.last_ns, word });
    }

    /// When the packet of the event before entered the path, and the payload bytes that count for it.
    #[inline]
    pub(crate) fn detail(&mut self, entered: Time, data_bytes: u32) {
        self.push(Entry { time_ns: entered.as_ns(), word: u64::from(DETAIL) | u64::from(data_bytes) << 8 });
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(entry),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(entry);
                self.blocks.push(block);
            }
        }
    }

    /// The events as records, flows counted from 1.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        let mut entries = self.blocks.iter().flatten().peekable();
        core::iter::from_fn(move || {
            let entry = entries.next()?;
            let detail = entries.next_if(|next| next.word as u8 == DETAIL);
            let event = Event::ALL[usize::from(entry.word as u8)];
            let flow = u32::from((entry.word >> 8) as u8);
            let is_opportunity = matches!(event, Event::Opportunity | Event::AckOpportunity);
            let is_arrival = matches!(event, Event::Deliver | Event::AckDeliver);
            let delay = detail
                .filter(|_| is_arrival)
                .map_or(0, |detail| entry.time_ns as i64 - detail.time_ns as i64);
            Some(Record {
                time_ns: entry.time_ns,
                flow: if is_opportunity { 0 } else { flow + 1 },
                event,
                seq: entry.word >> 32,
                size_bytes: u32::from((entry.word >> 16) as u16),
                data_bytes: detail.map_or(0, |detail| (detail.word >> 8) as u32),
                one_way_delay_ns: delay,
            })
        })
    }
}

/// The records of all logs in order of time; those of earlier logs come first where times are equal.
pub(crate) fn merged<'a>(logs: impl Iterator<Item = &'a EventLog>) -> impl Iterator<Item = Record> + 'a {
    let mut logs: Vec<_> = logs.map(|log| log.records().peekable()).collect();
    core::iter::from_fn(move || {
        // The first of several least.
        let time = |log: &mut Peekable<_>| log.peek().map(|record: &Record| record.time_ns);
        let next =
            logs.iter_mut().filter_map(|log| Some((time(log)?, log))).min_by_key(|(time_ns, _)| *time_ns);
        next.and_then(|(_, log)| log.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    #[test]
    fn events_come_back_as_records() {
        let mut log = EventLog::default();
        log.event(at(5), Event::Send, 2, 7, 1500);
        log.detail(at(5), 1448);
        log.event(at(4), Event::Drop, 2, 6, 1500);
        log.event(at(9), Event::Deliver, 254, u64::from(u32::MAX), 65535);
        log.detail(at(5), 0);
        log.event(at(9), Event::Opportunity, 0, 0, 1504);
        let records: Vec<Record> = log.records().collect();
        let base = Record {
            time_ns: 5000,
            flow: 3,
            event: Event::Send,
            seq: 7,
            size_bytes: 1500,
            data_bytes: 1448,
            one_way_delay_ns: 0,
        };
        assert_eq!(records[0], base);
        // Dated back: comes at the time of the one before.
        assert_eq!(records[1], Record { event: Event::Drop, seq: 6, data_bytes: 0, ..base });
        let (seq, flow) = (u64::from(u32::MAX), 255);
        let deliver = Record { time_ns: 9000, flow, event: Event::Deliver, seq, size_bytes: 65535, ..base };
        assert_eq!(records[2], Record { data_bytes: 0, one_way_delay_ns: 4000, ..deliver });
        assert_eq!((records[3].flow, records[3].event, records.len()), (0, Event::Opportunity, 4));
        assert_eq!(log.len(), 4);
    }

    #[test]
    fn logs_merge_in_order_of_time() {
        let (mut data, mut ack, mut sender) = (EventLog::default(), EventLog::default(), EventLog::default());
        for us in [1, 3, 3, 8] {
            data.event(at(us), Event::Send, 0, us, 100);
        }
        for us in [2, 3, 9] {
            ack.event(at(us), Event::AckSend, 0, us, 52);
        }
        sender.event(at(3), Event::Acked, 0, 1, 0);
        sender.event(at(10), Event::Lost, 0, 2, 0);
        let logs = [&data, &ack, &EventLog::default(), &sender];
        let times: Vec<(u64, Event)> =
            merged(logs.into_iter()).map(|record| (record.time_ns / 1000, record.event)).collect();
        let (send, ack, acked, lost) = (Event::Send, Event::AckSend, Event::Acked, Event::Lost);
        let of_directions = [(1, send), (2, ack), (3, send), (3, send), (3, ack)];
        assert_eq!(times[..5], of_directions);
        assert_eq!(times[5..], [(3, acked), (8, send), (9, ack), (10, lost)]);
    }
}
