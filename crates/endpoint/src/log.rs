//! Log of packet events with 16 bytes per entry, kept in memory during the run.

use record::{Event, Record};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use units::Time;

/// Event, or the detail that follows an event.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time of the event, ns. In a detail: the time when the packet entered the path, or [`ELSEWHERE`].
    time_ns: u64,
    /// Fields from the lowest bits: 4 of event code (or [`DETAIL`]), 12 of flow, 16 of size, 32 of packet number. In a
    /// detail the upper 60 bits are payload bytes.
    word: u64,
}

impl Entry {
    const fn code(self) -> u8 {
        self.word as u8 & DETAIL
    }
}

/// Number of bits of the event code.
const CODE_BITS: u32 = 4;
/// Code of a detail, which no event has.
const DETAIL: u8 = (1 << CODE_BITS) - 1;
const _: () = assert!(Event::ALL.len() <= DETAIL as usize, "the code of an event has too few bits");

/// Entry time of a packet that entered the path at another log.
const ELSEWHERE: u64 = u64::MAX;

/// Maximum number of flows.
pub const MOST_FLOWS: usize = 1 << (16 - CODE_BITS);

/// Number of entries of one block: 1 MiB, so that growing never copies.
const BLOCK: usize = 1 << 16;

/// Events at one end of a flow or in one direction of an emulated path, in time order by one clock.
#[derive(Debug, Default)]
pub struct EventLog {
    blocks: Vec<Vec<Entry>>,
    last_ns: u64,
    events: u64,
    has_open_arrivals: bool,
}

/// Event of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    /// Record with times of the log's clock.
    pub(crate) record: Record,
    /// True for an arrival whose departure is in another log. Its one-way delay is unknown so far.
    pub(crate) is_open: bool,
}

impl EventLog {
    /// Returns the reason why an end of flow number `index` (from 0), or the tunnel before the end, cannot have written
    /// this log; `None` if the log is possible.
    ///
    /// A sender sees departures of data packets, arrivals of ACKs and its own verdicts. A receiver sees arrivals of
    /// data packets and departures of ACKs. Only the other end knows the departure of an arrived packet. Neither end
    /// sees events inside the path.
    pub fn objection(&self, index: usize, sends: bool) -> Option<String> {
        self.events().find_map(|Logged { record, is_open }| {
            let can_see = match record.event {
                Event::Send | Event::AckMark | Event::Lost | Event::Acked | Event::Restored => sends,
                Event::AckDeliver => sends && is_open,
                Event::AckSend | Event::Mark => !sends,
                Event::Deliver => !sends && is_open,
                _ => false,
            };
            let (flow, event) = (record.flow, record.event.name());
            (!can_see || flow as usize != index + 1).then(|| {
                let role = if sends { "sends" } else { "receives" };
                format!("a side that {role} flow {} reports `{event}` of flow {flow}", index + 1)
            })
        })
    }

    /// Returns the number of events.
    pub const fn len(&self) -> u64 {
        self.events
    }

    /// Returns true if there are no events.
    pub const fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// Returns true if there are arrivals whose departures are in another log.
    pub(crate) const fn has_open_arrivals(&self) -> bool {
        self.has_open_arrivals
    }

    /// Adds an event of packet `number` of `flow` (from 0).
    ///
    /// The path may date an event back to its due time. The event then gets the time of the previous event, so that
    /// times never decrease. The difference is at most the emulator's lateness.
    #[inline]
    pub fn event(&mut self, time: Time, event: Event, flow: u32, number: u64, size_bytes: u32) {
        self.last_ns = self.last_ns.max(time.as_ns());
        self.events += 1;
        let word = event as u64
            | u64::from(flow as u16) << CODE_BITS & 0xffff
            | u64::from(size_bytes as u16) << 16
            | u64::from(number as u32) << 32;
        self.push(Entry { time_ns: self.last_ns, word });
    }

    /// Adds to the previous event the time when its packet entered the path, and the counted payload bytes.
    #[inline]
    pub fn detail(&mut self, entered: Time, data_bytes: u32) {
        self.detail_at(entered.as_ns(), data_bytes);
    }

    /// Adds the counted payload bytes to the previous event, an arrival whose departure is in another log.
    #[inline]
    pub fn detail_of_other(&mut self, data_bytes: u32) {
        self.has_open_arrivals = true;
        self.detail_at(ELSEWHERE, data_bytes);
    }

    #[inline]
    fn detail_at(&mut self, entered_ns: u64, data_bytes: u32) {
        self.push(Entry {
            time_ns: entered_ns,
            word: u64::from(DETAIL) | u64::from(data_bytes) << CODE_BITS,
        });
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

    /// Returns the events, with flows numbered from 1.
    pub(crate) fn events(&self) -> impl Iterator<Item = Logged> + '_ {
        let mut entries = self.blocks.iter().flatten().peekable();
        core::iter::from_fn(move || {
            let entry = entries.next()?;
            let detail = entries.next_if(|next| next.code() == DETAIL);
            let event = Event::ALL[usize::from(entry.code())];
            let flow = u32::from(entry.word as u16 >> CODE_BITS);
            let is_opportunity = matches!(event, Event::Opportunity | Event::AckOpportunity);
            let entered_ns = detail.filter(|_| is_arrival(event)).map(|detail| detail.time_ns);
            let is_open = entered_ns == Some(ELSEWHERE);
            let delay_ns = entered_ns.filter(|_| !is_open).map(|at| entry.time_ns as i64 - at as i64);
            let record = Record {
                time_ns: entry.time_ns,
                flow: if is_opportunity { 0 } else { flow + 1 },
                event,
                seq: entry.word >> 32,
                size_bytes: u32::from((entry.word >> 16) as u16),
                data_bytes: detail.map_or(0, |detail| (detail.word >> CODE_BITS) as u32),
                one_way_delay_ns: delay_ns.unwrap_or(0),
            };
            Some(Logged { record, is_open })
        })
    }
}

/// Serializes the bytes of the entries.
impl Serialize for EventLog {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(16 * self.blocks.iter().map(Vec::len).sum::<usize>());
        for entry in self.blocks.iter().flatten() {
            bytes.extend_from_slice(&entry.time_ns.to_le_bytes());
            bytes.extend_from_slice(&entry.word.to_le_bytes());
        }
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for EventLog {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_bytes(Bytes)?;
        let mut log = Self::default();
        let (entries, rest) = bytes.as_chunks::<16>();
        let mut may_detail = false;
        for entry in entries {
            let (time, word) = entry.split_at(8);
            let number =
                |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            let entry = Entry { time_ns: number(time), word: number(word) };
            let is_detail = entry.code() == DETAIL;
            if is_detail && !may_detail || !is_detail && usize::from(entry.code()) >= Event::ALL.len() {
                return Err(Error::custom("no log of events"));
            }
            if is_detail {
                log.has_open_arrivals |= entry.time_ns == ELSEWHERE;
            } else {
                log.events += 1;
                log.last_ns = entry.time_ns;
            }
            may_detail = !is_detail;
            log.push(entry);
        }
        if rest.is_empty() { Ok(log) } else { Err(Error::custom("a log of events is cut off")) }
    }
}

/// Visitor that reads bytes in any form.
struct Bytes;

impl serde::de::Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the bytes of a log of events")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}

const fn is_arrival(event: Event) -> bool {
    matches!(event, Event::Deliver | Event::AckDeliver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    #[test]
    fn an_end_writes_down_what_it_can_see() {
        let objection = |event, flow, is_open, sends| {
            let mut log = EventLog::default();
            log.event(at(1), event, flow, 0, 1500);
            if is_open {
                log.detail_of_other(1448);
            } else {
                log.detail(at(0), 1448);
            }
            log.objection(3, sends)
        };
        let seen = |sends: bool, is_open: bool| {
            Event::ALL.into_iter().filter(move |event| objection(*event, 3, is_open, sends).is_none())
        };
        let of_sender =
            [Event::Send, Event::AckMark, Event::AckDeliver, Event::Lost, Event::Acked, Event::Restored];
        assert_eq!(seen(true, true).collect::<Vec<_>>(), of_sender);
        assert_eq!(seen(false, true).collect::<Vec<_>>(), [Event::Mark, Event::Deliver, Event::AckSend]);
        // An arrival may not state its own departure time. Otherwise a peer could report arrivals of packets that never
        // left.
        assert!(seen(true, false).all(|event| event != Event::AckDeliver));
        assert!(seen(false, false).all(|event| event != Event::Deliver));
        let said = objection(Event::Drop, 3, true, false).unwrap();
        assert_eq!(said, "a side that receives flow 4 reports `drop` of flow 4");
        let said = objection(Event::Send, 4, true, true).unwrap();
        assert_eq!(said, "a side that sends flow 4 reports `send` of flow 5");
    }

    #[test]
    fn events_come_back_as_records() {
        let mut log = EventLog::default();
        log.event(at(5), Event::Send, 2, 7, 1500);
        log.detail(at(5), 1448);
        log.event(at(4), Event::Drop, 2, 6, 1500);
        log.event(at(9), Event::Deliver, 4095, u64::from(u32::MAX), 65535);
        log.detail(at(5), 0);
        log.event(at(9), Event::Opportunity, 0, 0, 1504);
        let records: Vec<Record> = log.events().map(|logged| logged.record).collect();
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
        // This event is dated back and gets the time of the previous event.
        assert_eq!(records[1], Record { event: Event::Drop, seq: 6, data_bytes: 0, ..base });
        let (seq, flow) = (u64::from(u32::MAX), 4096);
        let deliver = Record { time_ns: 9000, flow, event: Event::Deliver, seq, size_bytes: 65535, ..base };
        assert_eq!(records[2], Record { data_bytes: 0, one_way_delay_ns: 4000, ..deliver });
        assert_eq!((records[3].flow, records[3].event, records.len()), (0, Event::Opportunity, 4));
        assert_eq!(log.len(), 4);
    }

    #[test]
    fn a_packet_that_entered_elsewhere_has_no_delay_yet() {
        let mut log = EventLog::default();
        log.event(at(5), Event::Send, 0, 7, 1500);
        log.detail(at(5), 1448);
        log.event(at(9), Event::AckDeliver, 0, 3, 52);
        log.detail_of_other(0);
        let open: Vec<(bool, i64)> =
            log.events().map(|logged| (logged.is_open, logged.record.one_way_delay_ns)).collect();
        assert_eq!(open, [(false, 0), (true, 0)]);
    }

    #[test]
    fn a_log_is_the_same_on_the_other_machine_and_what_is_none_is_refused() {
        let mut log = EventLog::default();
        log.event(at(5), Event::Send, 0, 7, 1500);
        log.detail(at(5), 1448);
        log.event(at(9), Event::AckDeliver, 0, 3, 52);
        log.detail_of_other(0);
        let sent = rmp_serde::to_vec(&log).unwrap();
        let received: EventLog = rmp_serde::from_slice(&sent).unwrap();
        let records = |log: &EventLog| log.events().map(|logged| logged.record).collect::<Vec<_>>();
        assert_eq!((records(&received), received.len()), (records(&log), 2));
        assert!(received.has_open_arrivals() && received.last_ns == 9000);
        // A detail without an event, and half an entry.
        let entry = |code: u8| [vec![0; 8], vec![code], vec![0; 7]].concat();
        for wrong in [entry(DETAIL), vec![0; 15]] {
            let bytes = rmp_serde::to_vec(serde_bytes(&wrong)).unwrap();
            assert!(rmp_serde::from_slice::<EventLog>(&bytes).is_err());
        }
    }

    /// Serializes bytes as bytes, not as a list of numbers.
    fn serde_bytes(bytes: &[u8]) -> &impl Serialize {
        struct Raw(Vec<u8>);
        impl Serialize for Raw {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.0)
            }
        }
        Box::leak(Box::new(Raw(bytes.to_vec())))
    }
}
