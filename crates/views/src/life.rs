//! Life of one packet, as a table row and as sentences.

use crate::View;
use crate::error::Error;
use crate::packets::{Collector, Packet};
use crate::rows::Rows;
use crate::words::{at, span};
use record::Event;
use serde_json::json;
use std::ops::ControlFlow;

/// Time after the sending in which the packet's end is expected: a number of round trips plus a constant, ns.
const ROUND_TRIPS: u64 = 8;
const WAIT_NS: u64 = 4_000_000_000;

impl<R: Rows + ?Sized> View<'_, R> {
    /// Returns the events of a packet as JSON: `packet` with the columns of [`packets`](Self::packets), and
    /// `sentences`.
    ///
    /// # Errors
    /// Returns an error if there is no such packet or no packet log, or the log cannot be read.
    pub fn life(&self, flow: u32, seq: u64) -> Result<String, Error> {
        if !self.rows.has_records() {
            return Err(Error::NoPackets);
        }
        let index = self.pyramid.flow(flow).ok_or(Error::NoPacket { flow, seq })?;
        let around = if index.checkpoints.ascends { index.checkpoints.around(seq) } else { (0, u64::MAX) };
        let mut collector = Collector::default();
        let mut until_ns = u64::MAX;
        let tells_acked = index.tells_acked;
        self.rows.records(around.0, u64::MAX, &mut |record| {
            // A number may come again, thus only reading to the end would find its last packet.
            if record.time_ns > until_ns || (until_ns == u64::MAX && record.time_ns > around.1) {
                return ControlFlow::Break(());
            }
            let is_data = !matches!(
                record.event,
                Event::AckSend
                    | Event::AckDrop
                    | Event::AckMark
                    | Event::AckDeliver
                    | Event::Opportunity
                    | Event::AckOpportunity
            );
            if record.flow == flow && record.seq == seq && is_data {
                collector.record(record, tells_acked);
                if record.event == Event::Send && until_ns == u64::MAX {
                    let around_ns = index.round_trip_ns(record.time_ns, record.time_ns.saturating_add(1));
                    let wait_ns = around_ns.saturating_mul(ROUND_TRIPS).saturating_add(WAIT_NS);
                    until_ns = record.time_ns.saturating_add(wait_ns).min(u64::MAX - 1);
                }
            }
            ControlFlow::Continue(())
        })?;
        let packet = collector.packets.first().ok_or(Error::NoPacket { flow, seq })?;
        let resent = self.is_retransmission(packet);
        let row = json!({
            "flow": packet.flow, "seq": packet.seq, "size_bytes": packet.size_bytes, "data_bytes": packet.data_bytes,
            "send_ns": packet.send_ns, "enqueue_ns": packet.enqueue_ns, "dequeue_ns": packet.dequeue_ns,
            "drop_ns": packet.drop_ns, "mark_ns": packet.mark_ns, "deliver_ns": packet.deliver_ns,
            "acked_ns": packet.acked_ns, "lost_ns": packet.lost_ns,
            "retransmission": resent.map_or(2, u8::from),
        });
        let least_ns = index.delay.list.iter().map(|bin| bin.low).min_by(f64::total_cmp);
        let sentences = story(packet, resent, least_ns, tells_acked);
        Ok(json!({"packet": row, "sentences": sentences}).to_string())
    }
}

/// Returns the events of a packet in sentences, in order of time. `least_ns`: minimum delay of its flow.
fn story(packet: &Packet, resent: Option<bool>, least_ns: Option<f64>, tells_acked: bool) -> Vec<String> {
    let mut events: Vec<(u64, u8, String)> = Vec::new();
    let sent_ns = packet.send_ns;
    let after = |time_ns: u64| {
        sent_ns.map_or_else(String::new, |sent_ns| {
            format!(", {} after it was sent", span(time_ns.saturating_sub(sent_ns)))
        })
    };
    if let Some(sent_ns) = sent_ns {
        let data = match packet.data_bytes {
            Some(0) => ", without data of the application".to_owned(),
            Some(bytes) => format!(", of which {bytes} are data"),
            None => String::new(),
        };
        let resent = match resent {
            Some(true) => " It carries data that was sent before.",
            Some(false) | None => "",
        };
        events.push((
            sent_ns,
            0,
            format!("Sent at {}: {} bytes{data}.{resent}", at(sent_ns), packet.size_bytes),
        ));
    }
    if let Some(entered_ns) = packet.enqueue_ns {
        events.push((
            entered_ns,
            1,
            format!("Entered a link's queue at {}{}.", at(entered_ns), after(entered_ns)),
        ));
    }
    if let Some(marked_ns) = packet.mark_ns {
        events.push((
            marked_ns,
            2,
            format!("Marked (ECN CE) at {}: a queue told of congestion.", at(marked_ns)),
        ));
    }
    if let Some(left_ns) = packet.dequeue_ns {
        let waited = packet.enqueue_ns.map_or_else(String::new, |entered_ns| {
            format!(" after waiting {}", span(left_ns.saturating_sub(entered_ns)))
        });
        events.push((left_ns, 3, format!("Left the queue at {}{waited}.", at(left_ns))));
    }
    if let Some(dropped_ns) = packet.drop_ns {
        events.push((
            dropped_ns,
            4,
            format!("Dropped inside the path at {}{}.", at(dropped_ns), after(dropped_ns)),
        ));
    }
    if let Some(arrived_ns) = packet.deliver_ns {
        let above = sent_ns.zip(least_ns).map(|(sent_ns, least_ns)| {
            let above_ns = arrived_ns.saturating_sub(sent_ns) as f64 - least_ns;
            format!(" ({} more than the fastest packet of its flow)", span(above_ns.max(0.0) as u64))
        });
        let above = above.unwrap_or_default();
        events.push((
            arrived_ns,
            5,
            format!("Arrived at the receiver at {}{}{above}.", at(arrived_ns), after(arrived_ns)),
        ));
        if packet.data_bytes.is_some_and(|bytes| bytes > 0)
            && packet.new_bytes == Some(0)
            && resent == Some(true)
        {
            events.push((arrived_ns, 6, "The receiver had all of its data already.".to_owned()));
        }
    }
    if let Some(acked_ns) = packet.acked_ns {
        events.push((acked_ns, 7, format!("Acknowledged at {}{}.", at(acked_ns), after(acked_ns))));
    }
    if let Some(lost_ns) = packet.lost_ns {
        let why = if packet.deliver_ns.is_some() { ", although it arrived" } else { "" };
        events.push((
            lost_ns,
            8,
            format!("Declared lost by the sender at {}{}{why}.", at(lost_ns), after(lost_ns)),
        ));
    }
    events.sort_by_key(|&(time_ns, order, _)| (time_ns, order));
    let mut sentences: Vec<String> = events.into_iter().map(|(_, _, sentence)| sentence).collect();
    if packet.deliver_ns.is_none() && packet.drop_ns.is_none() {
        sentences.push(
            "What became of it on the path is not in the log: it may have been under way when the run ended."
                .to_owned(),
        );
    }
    if !tells_acked && packet.deliver_ns.is_some() && packet.lost_ns.is_none() {
        sentences
            .push("When it was acknowledged is not in this log; a run with --log full has it.".to_owned());
    }
    sentences
}
