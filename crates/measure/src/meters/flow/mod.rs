//! Counters of one flow.

mod ack_direction;
mod declared_lost;
mod ledger;
mod media;
mod meter;
mod response;
mod samples;

pub(crate) use ack_direction::{AckDirection, KnownAcks};
pub(crate) use ledger::Fate;
pub use media::FrameDelivery;
pub(crate) use media::KnownMedia;
pub(crate) use meter::FlowMeter;
pub(crate) use samples::Surroundings;
