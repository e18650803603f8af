//! Statistics of the return direction.

use super::definition::Better::{Less, Neutral};
use super::definition::Convention::Pantheon;
use super::definition::OneWay::Return;
use super::needs::LogTells;
use super::needs::Need::{DelayDifferences, OneWayDelays};
use super::row::{metric, statistics};
use super::sources::PANTHEON;
use crate::meters::{KnownAcks, byte_loss, us_to_ms};

statistics! {
    /// Statistics of the return direction, in the Pantheon convention.
    AckLinkStats, "acklink.", of KnownAcks<'_> {
        throughput_mbps: f64 = metric("Mbit/s", Neutral, Pantheon, "throughput_mbps of the return direction", PANTHEON)
            => KnownAcks::throughput_mbps;
        delay_p95_ms: Option<f64> = metric("ms", Less, Pantheon, "delay_p95_ms of the return direction", PANTHEON)
            .across(Return).needs(&[OneWayDelays]) => |acks| acks.delay_p95_us.map(us_to_ms);
        // A log from one end contains that end's arrivals but not the number of packets sent.
        loss_rate: Option<f64> = metric("", Less, Pantheon, "loss_rate of the return direction", PANTHEON)
            .needs(&[DelayDifferences]) => |acks| byte_loss(&acks.direction.sent, &acks.direction.delivered);
    }
}

impl AckLinkStats {
    /// Returns the statistics of a return direction. `None` if nothing was ever sent or delivered, and for a log from
    /// one end if there is no rate.
    pub(crate) fn where_told(known: &KnownAcks<'_>, log: LogTells) -> Option<Self> {
        let is_told = log.tells(&[DelayDifferences]) || known.throughput_mbps() > 0.0;
        let is_empty = known.direction.sent.packets + known.direction.delivered.packets == 0;
        (is_told && !is_empty).then(|| Self::of(known, log))
    }
}
