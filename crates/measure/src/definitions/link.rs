//! Statistics of a link.

use super::definition::Better::{Less, More, Neutral};
use super::definition::Convention::{Ccperf, Corrected, Counter};
use super::row::{label, metric, statistics};
use super::sources::{CCPERF, OWN, RFC5166, RFC7928};
use crate::inputs::LinkCounters;
use crate::meters::{mbps, time_mean};

statistics! {
    /// Statistics of one link.
    LinkStats, "", of LinkCounters {
        link: String = label("name of the link") => |link| link.name.clone();
        direction: String = label("data or ack") => |link| link.direction.clone();
        capacity_mbps: Option<f64> = metric("Mbit/s", Neutral, Counter,
            "bits the link could have carried / elapsed time; null without a limit", OWN)
            => LinkCounters::capacity_mbps;
        throughput_mbps: Option<f64> = metric("Mbit/s", More, Counter, "bits the link sent / elapsed time", OWN)
            => LinkCounters::throughput_mbps;
        utilization: Option<f64> = metric("", More, Counter, "bits the link sent / bits it could have carried", OWN)
            .fraction() => LinkCounters::utilization;
        mean_queue_packets: Option<f64> = metric("packets", Less, Counter,
            "time integral of the queue length / elapsed time", CCPERF)
            => LinkCounters::mean_queue_packets;
        mean_queue_bytes: Option<f64> = metric("bytes", Less, Counter,
            "time integral of the queue length / elapsed time", CCPERF)
            => |link| time_mean(link.queue_byte_ns, link.elapsed);
        max_queue_packets: u64 = metric("packets", Less, Counter, "longest queue that lasted", OWN)
            => |link| link.max_queue_packets;
        max_queue_bytes: u64 = metric("bytes", Less, Counter, "longest queue that lasted", OWN)
            => |link| link.max_queue_bytes;
        mean_queue_delay_ms: Option<f64> = metric("ms", Less, Counter,
            "mean time in the queue of the packets that left it towards the link", CCPERF)
            => LinkCounters::mean_queue_delay_ms;
        packets_in: u64 = metric("packets", Neutral, Counter, "packets offered to the link", OWN)
            => |link| link.packets_in;
        packets_out: u64 = metric("packets", Neutral, Counter, "packets the link sent", OWN)
            => |link| link.packets_out;
        packets_dropped: u64 = metric("packets", Less, Counter, "packets the link's queue dropped", OWN)
            => |link| link.packets_dropped;
        packets_marked: u64 = metric("packets", Neutral, Counter, "packets the link's queue CE-marked", OWN)
            => |link| link.packets_marked;
        ecn_mark_rate: Option<f64> = metric("", Neutral, Corrected, "packets marked / packets sent", RFC5166)
            => |link| (link.packets_out > 0).then(|| link.packets_marked as f64 / link.packets_out as f64);
        max_queue_delay_ms: f64 = metric("ms", Less, Corrected,
            "longest time that a packet spent in the queue", RFC7928) => |link| link.max_queueing_delay_ns as f64 / 1e6;
        peak_queue_ms: Option<f64> = metric("ms", Less, Corrected,
            "the same of the packets that left the queue after the path's last scheduled change; null without a change",
            RFC7928)
            => |link| link.peak_queueing_delay_ns.map(|ns| ns as f64 / 1e6);
        mean_qdisc_delay_l2: Option<f64> = metric("ms", Less, Ccperf, "mean_queue_delay_ms", CCPERF)
            => LinkCounters::mean_queue_delay_ms;
        mean_qdisc_length_l2: Option<f64> = metric("packets", Less, Ccperf, "mean_queue_packets", CCPERF)
            => LinkCounters::mean_queue_packets;
        mean_sending_rate_l1: Option<f64> = metric("Mbit/s", Neutral, Ccperf,
            "throughput_mbps, framing included", CCPERF) => LinkCounters::throughput_mbps;
        total_qdisc_drops_l2: u64 = metric("packets", Less, Ccperf, "packets_dropped", CCPERF)
            => |link| link.packets_dropped;
    }
}

impl LinkCounters {
    const fn has_capacity(&self) -> bool {
        self.capacity_bits > 0
    }

    /// Returns the average capacity of the link, Mbit/s; `None` without a limit.
    pub(crate) fn capacity_mbps(&self) -> Option<f64> {
        // 1 bit/ns is 1000 Mbit/s.
        time_mean(self.capacity_bits, self.elapsed).map(|rate| rate * 1_000.0).filter(|_| self.has_capacity())
    }

    fn throughput_mbps(&self) -> Option<f64> {
        mbps(self.bytes_out, self.elapsed)
    }

    /// Returns the bits that the link sent / the bits that it could have carried; `None` without a limit.
    pub(crate) fn utilization(&self) -> Option<f64> {
        self.has_capacity().then(|| (self.bytes_out * 8) as f64 / self.capacity_bits as f64)
    }

    fn mean_queue_packets(&self) -> Option<f64> {
        time_mean(self.queue_packet_ns, self.elapsed)
    }

    fn mean_queue_delay_ms(&self) -> Option<f64> {
        (self.packets_dequeued > 0)
            .then(|| self.queueing_delay_ns as f64 / self.packets_dequeued as f64 / 1e6)
    }
}
