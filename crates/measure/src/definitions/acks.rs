//! The numbers of the return direction.

use super::Better::{Less, Neutral};
use super::Convention::Pantheon;
use super::OneWay::Return;
use super::PANTHEON;
use super::needs::Need::{DelayDifferences, OneWayDelays};
use super::row::{metric, statistics};
use crate::meters::{KnownAcks, byte_loss, us_to_ms};

statistics! {
    /// The return direction, in the Pantheon convention.
    AckLinkStats, "acklink.", of KnownAcks<'_> {
        throughput_mbps: f64 = metric("Mbit/s", Neutral, Pantheon, "throughput_mbps of the return direction", PANTHEON)
            => KnownAcks::throughput_mbps;
        delay_p95_ms: Option<f64> = metric("ms", Less, Pantheon, "delay_p95_ms of the return direction", PANTHEON)
            .across(Return).needs(&[OneWayDelays]) => |acks| acks.delay_p95_us.map(us_to_ms);
        // One end sees what arrives there, not how much was sent.
        loss_rate: Option<f64> = metric("", Less, Pantheon, "loss_rate of the return direction", PANTHEON)
            .needs(&[DelayDifferences]) => |acks| byte_loss(&acks.direction.sent, &acks.direction.delivered);
    }
}
