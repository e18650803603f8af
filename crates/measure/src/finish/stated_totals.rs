//! Totals stated by senders, in a log without records of arrivals.

use crate::definitions::RunStats;
use crate::inputs::SenderCounters;
use crate::meters::mbps;

/// Writes stated totals into the statistics of a log without records of arrivals.
pub(super) fn put_in(stats: &mut RunStats, senders: &[SenderCounters]) {
    let loss = |(sent, lost): (u64, u64)| (sent > 0).then(|| lost as f64 / sent as f64);
    let mut all = Vec::with_capacity(stats.flows.len());
    for flow in &mut stats.flows {
        let stated = senders.iter().find(|sender| sender.flow == flow.flow).map(|sender| sender.stated);
        let stated = stated.unwrap_or_default();
        flow.data_bytes_delivered = stated.payload.map(|(bytes, _)| bytes);
        flow.goodput_mbps = stated.payload.and_then(|(bytes, span)| mbps(bytes, span));
        flow.mean_throughput_l4 = flow.goodput_mbps;
        flow.packets_sent = flow.packets_sent.or(stated.packets.map(|(sent, _)| sent));
        flow.packet_loss_rate = stated.packets.and_then(loss);
        all.push(stated);
    }
    // Rates of flows that were stated for different times do not add up to a total rate.
    let payload: Option<Vec<_>> = all.iter().map(|stated| stated.payload).collect();
    stats.network.goodput_mbps = payload.and_then(|payload| {
        let longest = payload.iter().map(|&(_, span)| span).max()?;
        mbps(payload.iter().map(|&(bytes, _)| bytes).sum(), longest)
    });
    let packets: Option<Vec<_>> = all.iter().map(|stated| stated.packets).collect();
    stats.network.packet_loss_rate = packets.and_then(|packets| {
        loss(packets.iter().fold((0, 0), |sum, packets| (sum.0 + packets.0, sum.1 + packets.1)))
    });
}
