//! Merge of a run's logs in time order.

use crate::clock::Correction;
use crate::log::{EventLog, Logged};
use core::iter::Peekable;
use record::{Event, Record};
use units::Time;

/// Log with the correction of its clock.
#[derive(Clone, Copy, Debug)]
pub struct ClockedLog<'a> {
    /// Log of events.
    pub log: &'a EventLog,
    /// Correction of the log's times.
    pub correction: &'a Correction,
}

impl<'a> From<&'a EventLog> for ClockedLog<'a> {
    /// Wraps a log of the run's own clock.
    fn from(log: &'a EventLog) -> Self {
        static OWN: Correction = Correction::NONE;
        Self { log, correction: &OWN }
    }
}

/// Returns the records of all logs in time order. At equal times, records of earlier logs come first.
///
/// Arrivals of packets whose departure is in another log get their one-way delay here. The delay is negative if the
/// error of the corrections exceeds the delay. After a backward clock step, times stay constant until they increase
/// again.
///
/// The other end may report false arrivals. An arrival is left out if no packet with its number departed, or if all of
/// them have already arrived. Its bytes are at most those of the departed packet.
pub fn merged<'a>(logs: impl IntoIterator<Item = ClockedLog<'a>>) -> impl Iterator<Item = Record> + 'a {
    let logs: Vec<ClockedLog<'a>> = logs.into_iter().filter(|log| !log.log.is_empty()).collect();
    let mut departures = Departures::of(&logs);
    let mut logs: Vec<_> = logs.iter().map(|log| events(*log).peekable()).collect();
    let mut latest_ns = 0;
    core::iter::from_fn(move || {
        loop {
            // Takes the first log among equal times.
            let time = |log: &mut Peekable<_>| log.peek().map(|(at_ns, _): &(i64, Logged)| *at_ns);
            let next =
                logs.iter_mut().filter_map(|log| Some((time(log)?, log))).min_by_key(|(at_ns, _)| *at_ns);
            let (at_ns, logged) = next.and_then(|(_, log)| log.next())?;
            let mut record = logged.record;
            latest_ns = at_ns.max(latest_ns);
            record.time_ns = latest_ns as u64;
            if logged.is_open {
                let Some(packet) = departures.arrive(&record) else { continue };
                record.one_way_delay_ns = at_ns - packet.at_ns;
                record.size_bytes = record.size_bytes.min(packet.size_bytes.into());
                record.data_bytes = record.data_bytes.min(packet.data_bytes);
            }
            return Some(record);
        }
    })
}

/// Returns the events of a log with their times on the run's own clock, ns.
fn events(ClockedLog { log, correction }: ClockedLog<'_>) -> impl Iterator<Item = (i64, Logged)> + '_ {
    log.events().map(move |logged| (correction.ns_of(Time::from_ns(logged.record.time_ns)), logged))
}

/// Packets that entered the path.
///
/// Another machine reports the packet numbers. Thus memory must grow with the number of departed packets, not with
/// their packet numbers.
#[derive(Debug, Default)]
struct Departures {
    /// Packets by flow (from 0) and direction (data, ACKs).
    tables: Vec<[Packets; 2]>,
}

impl Departures {
    /// Collects the departures of `logs`; none if every arrival has its own departure time.
    fn of(logs: &[ClockedLog<'_>]) -> Self {
        let mut departures = Self::default();
        if !logs.iter().any(|log| log.log.has_open_arrivals()) {
            return departures;
        }
        for (at_ns, Logged { record, .. }) in logs.iter().flat_map(|log| events(*log)) {
            if matches!(record.event, Event::Send | Event::AckSend) {
                departures.note(&record, at_ns);
            }
        }
        departures.tables.iter_mut().flatten().for_each(Packets::order);
        departures
    }

    fn note(&mut self, record: &Record, at_ns: i64) {
        // The flow number is below `MOST_FLOWS`, since an entry has no more bits.
        let flow = record.flow as usize - 1;
        if self.tables.len() <= flow {
            self.tables.resize_with(flow + 1, Default::default);
        }
        self.tables[flow][usize::from(record.event == Event::AckSend)].left.push(Departure {
            number: record.seq,
            at_ns,
            data_bytes: record.data_bytes,
            size_bytes: record.size_bytes as u16,
            to_arrive: 1,
        });
    }

    /// Returns the arrived packet and counts its arrival.
    fn arrive(&mut self, arrival: &Record) -> Option<Departure> {
        let tables = self.tables.get_mut(arrival.flow as usize - 1)?;
        let packet = tables[usize::from(arrival.event == Event::AckDeliver)].find(arrival.seq)?;
        packet.to_arrive = packet.to_arrive.checked_sub(1)?;
        Some(*packet)
    }
}

/// Packet that entered the path, by the run's own clock.
#[derive(Clone, Copy, Debug)]
struct Departure {
    number: u64,
    at_ns: i64,
    data_bytes: u32,
    size_bytes: u16,
    /// Number of packets with this packet number that have not arrived yet.
    to_arrive: u16,
}

/// Packets of one flow in one direction.
#[derive(Debug, Default)]
struct Packets {
    /// Packets, in order of packet number after `order`.
    left: Vec<Departure>,
}

impl Packets {
    /// Sorts the packets. Packets with equal numbers are combined, with the last departure time.
    fn order(&mut self) {
        self.left.sort_by_key(|packet| packet.number);
        self.left.dedup_by(|later, kept| {
            let is_same = later.number == kept.number;
            if is_same {
                *kept = Departure { to_arrive: kept.to_arrive.saturating_add(1), ..*later };
            }
            is_same
        });
    }

    fn find(&mut self, number: u64) -> Option<&mut Departure> {
        // Numbers of an honest log are dense and begin with 0. Thus the number is also the index.
        let place = usize::try_from(number).ok().filter(|place| self.at(*place) == Some(number));
        let place = place.or_else(|| self.left.binary_search_by_key(&number, |packet| packet.number).ok())?;
        self.left.get_mut(place)
    }

    /// Returns the number of the packet at this index.
    fn at(&self, place: usize) -> Option<u64> {
        self.left.get(place).map(|packet| packet.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Stretch;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn at(us: u64) -> Time {
        Time::from_ns(us * 1000)
    }

    /// Returns a log with a correction that lives as long as the test.
    fn shifted(log: &EventLog, us: i64) -> ClockedLog<'_> {
        ClockedLog { log, correction: Box::leak(Box::new(Correction::constant(us * 1000))) }
    }

    fn short(records: impl Iterator<Item = Record>) -> Vec<(u64, Event, i64)> {
        records.map(|record| (record.time_ns / 1000, record.event, record.one_way_delay_ns / 1000)).collect()
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
            merged(logs.map(ClockedLog::from)).map(|record| (record.time_ns / 1000, record.event)).collect();
        let (send, ack, acked, lost) = (Event::Send, Event::AckSend, Event::Acked, Event::Lost);
        let of_directions = [(1, send), (2, ack), (3, send), (3, send), (3, ack)];
        assert_eq!(times[..5], of_directions);
        assert_eq!(times[5..], [(3, acked), (8, send), (9, ack), (10, lost)]);
    }

    /// Returns the logs of two ends. A packet leaves at 100 us and takes 20 us; its ACK leaves at once and takes 30 us.
    /// The receiver's clock is `ahead_us` ahead of the sender's.
    fn two_ends(ahead_us: u64) -> (EventLog, EventLog) {
        let (mut sender, mut receiver) = (EventLog::default(), EventLog::default());
        sender.event(at(100), Event::Send, 0, 0, 1500);
        sender.detail(at(100), 1448);
        receiver.event(at(120 + ahead_us), Event::Deliver, 0, 0, 1500);
        receiver.detail_of_other(1448);
        receiver.event(at(120 + ahead_us), Event::AckSend, 0, 0, 52);
        sender.event(at(150), Event::AckDeliver, 0, 0, 52);
        sender.detail_of_other(0);
        (sender, receiver)
    }

    #[test]
    fn delays_between_two_clocks_are_found_whichever_is_ahead() {
        let expected = [
            (100, Event::Send, 0),
            (120, Event::Deliver, 20),
            (120, Event::AckSend, 0),
            (150, Event::AckDeliver, 30),
        ];
        let (sender, receiver) = two_ends(5000);
        assert_eq!(short(merged([shifted(&sender, 0), shifted(&receiver, -5000)])), expected);
        // By the receiver's clock all times are later; nothing else differs.
        let later = expected.map(|(us, event, delay)| (us + 5000, event, delay));
        assert_eq!(short(merged([shifted(&sender, 5000), shifted(&receiver, 0)])), later);
    }

    #[test]
    fn a_wrong_correction_shows_as_negative_delay_and_time_begins_with_zero() {
        let (sender, receiver) = two_ends(0);
        let records = short(merged([shifted(&sender, 0), shifted(&receiver, -130)]));
        let expected = [
            (0, Event::Deliver, -110),
            (0, Event::AckSend, 0),
            (100, Event::Send, 0),
            (150, Event::AckDeliver, 160),
        ];
        assert_eq!(records, expected);
    }

    #[test]
    fn times_stand_still_where_a_clock_was_set_back_and_delays_do_not_care() {
        let (sender, receiver) = two_ends(0);
        // Events at the receiver after 120 us are corrected by -60 us, as if the sender's clock had stepped back
        // before.
        let back = Stretch { from_ns: 115_000, add_ns: -60_000, rate: 0.0 };
        let stretches = vec![Stretch { from_ns: 0, add_ns: 0, rate: 0.0 }, back];
        let mut early = EventLog::default();
        early.event(at(110), Event::AckSend, 0, 1, 52);
        early.event(at(120), Event::AckSend, 0, 2, 52);
        let correction = Correction::of(stretches);
        let logs = [
            ClockedLog::from(&sender),
            ClockedLog::from(&receiver),
            ClockedLog { log: &early, correction: &correction },
        ];
        let records: Vec<_> = merged(logs).collect();
        assert_eq!(records.len(), 6);
        assert!(records.is_sorted_by_key(|record| record.time_ns), "{records:?}");
        let arrived = records.iter().find(|record| record.event == Event::Deliver).unwrap();
        assert_eq!((arrived.time_ns, arrived.one_way_delay_ns), (120_000, 20_000));
    }

    #[test]
    fn an_arrival_from_nowhere_is_left_out() {
        let (sender, mut receiver) = two_ends(0);
        for (flow, number) in [(0, 1), (1, 0)] {
            receiver.event(at(125), Event::Deliver, flow, number, 1500);
            receiver.detail_of_other(1448);
        }
        assert_eq!(merged([ClockedLog::from(&sender), ClockedLog::from(&receiver)]).count(), 4);
    }

    #[test]
    fn a_packet_arrives_once_and_with_no_more_bytes_than_left() {
        // Without the check the other end could report 92 packets as 9,200 packets of a gigabyte each.
        let (sender, mut receiver) = two_ends(0);
        for us in 121..221 {
            receiver.event(at(us), Event::Deliver, 0, 0, 65_000);
            receiver.detail_of_other(1_000_000_000);
        }
        let mut liar = EventLog::default();
        liar.event(at(119), Event::Deliver, 0, 0, 65_000);
        liar.detail_of_other(1_000_000_000);
        let honest: Vec<_> = merged([&sender, &receiver].map(ClockedLog::from)).collect();
        let lied: Vec<_> = merged([&sender, &liar, &receiver].map(ClockedLog::from)).collect();
        for (records, delay_us) in [(honest, 20), (lied, 19)] {
            let arrived: Vec<_> = records.iter().filter(|record| record.event == Event::Deliver).collect();
            let [one] = arrived[..] else { panic!("{arrived:?}") };
            assert_eq!((one.size_bytes, one.data_bytes, one.one_way_delay_ns), (1500, 1448, delay_us * 1000));
        }
    }

    #[test]
    fn a_number_that_one_packet_states_takes_no_memory_for_those_below_it() {
        // An array by packet number would take 34 GB for a report of 73 bytes.
        let (mut sender, mut receiver) = two_ends(0);
        for (us, number) in [(201, u64::from(u32::MAX)), (202, 7), (203, 7)] {
            sender.event(at(us), Event::Send, 0, number, 1500);
            receiver.event(at(us + 20), Event::Deliver, 0, number, 1500);
            receiver.detail_of_other(1448);
        }
        let logs = [ClockedLog::from(&sender), ClockedLog::from(&receiver)];
        let [data, acks] = &Departures::of(&logs).tables[0];
        assert!(data.left.capacity() <= 8, "{}", data.left.capacity());
        assert_eq!((data.left.len(), acks.left.len()), (3, 1));
        let arrived = merged(logs).filter(|record| record.event == Event::Deliver);
        let found: Vec<(u64, i64)> =
            arrived.map(|record| (record.seq, record.one_way_delay_ns / 1000)).collect();
        // Two packets left with the same number. Both arrive with the later departure time.
        assert_eq!(found, [(0, 20), (u64::from(u32::MAX), 20), (7, 19), (7, 20)]);
    }

    /// Returns logs of one flow each, as steps in time, with the offsets of their clocks.
    fn logs() -> impl Strategy<Value = Vec<(Vec<u64>, i64)>> {
        vec((vec(0_u64..50, 0..30), -100_i64..100), 1..6)
    }

    proptest! {
        #[test]
        fn merging_is_a_stable_sort_by_corrected_time(logs in logs()) {
            let mut written: Vec<(EventLog, i64)> = Vec::new();
            let mut expected = Vec::new();
            for (steps, offset_us) in logs {
                let (mut log, mut us) = (EventLog::default(), 0);
                for (number, step) in steps.iter().enumerate() {
                    us += step;
                    log.event(at(us), Event::Send, written.len() as u32, number as u64, 100);
                    expected.push((us as i64 + offset_us, written.len() as u32 + 1, number as u64));
                }
                written.push((log, offset_us));
            }
            // The events were written log by log. A stable sort keeps the order of logs at equal times.
            expected.sort_by_key(|(us, _, _)| *us);
            let merged = merged(written.iter().map(|(log, offset_us)| shifted(log, *offset_us)));
            let found: Vec<_> = merged.map(|it| (it.time_ns / 1000, it.flow, it.seq)).collect();
            let expected: Vec<_> =
                expected.into_iter().map(|(us, flow, number)| (us.max(0) as u64, flow, number)).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn the_delay_of_a_packet_does_not_depend_on_the_clocks(
            delays_us in vec(1_u64..1000, 1..40),
            ahead_us in 0_u64..10_000,
            start_us in 0_u64..10_000,
        ) {
            let (mut sender, mut receiver) = (EventLog::default(), EventLog::default());
            let mut arrivals: Vec<_> = delays_us
                .iter()
                .enumerate()
                .map(|(number, delay)| (start_us + 10 * number as u64 + delay, number as u64))
                .collect();
            for number in 0..delays_us.len() as u64 {
                sender.event(at(start_us + 10 * number), Event::Send, 0, number, 1500);
            }
            arrivals.sort_unstable();
            for (us, number) in arrivals {
                receiver.event(at(us + ahead_us), Event::Deliver, 0, number, 1500);
                receiver.detail_of_other(0);
            }
            let both = [shifted(&sender, 0), shifted(&receiver, -(ahead_us as i64))];
            let delivered = merged(both).filter(|record| record.event == Event::Deliver);
            let mut found: Vec<_> =
                delivered.map(|record| (record.seq, record.one_way_delay_ns as u64 / 1000)).collect();
            found.sort_unstable();
            let expected: Vec<_> = (0..).zip(delays_us).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
