//! The kinds of elements: the value of `kind` and the table of its settings. A new element is a file and a line here.

pub(crate) mod aggregate;
pub(crate) mod cellular;
pub(crate) mod delay;
pub(crate) mod duplicate;
pub(crate) mod gilbert_elliott;
pub(crate) mod granted;
pub(crate) mod jitter;
pub(crate) mod link;
pub(crate) mod loss;
pub(crate) mod netem;
pub(crate) mod poisson;
pub(crate) mod policer;
pub(crate) mod reorder;
pub(crate) mod shaper;
pub(crate) mod shared;
pub(crate) mod slotted;
pub(crate) mod trace;

/// Calls the macro `$then` with the list.
macro_rules! element_kinds {
    ($then:ident) => {
        $then! {
            /// Constant rate.
            "link" => Link(crate::elements::link::LinkSpec),
            /// Delivery opportunities from a trace.
            "trace" => Trace(crate::elements::trace::TraceSpec),
            /// Delivery opportunities of a Poisson process.
            "poisson" => Poisson(crate::elements::poisson::PoissonSpec),
            /// Delivery opportunities of a rate that wanders and stops.
            "cellular" => Cellular(crate::elements::cellular::CellularSpec),
            /// A rate that goes by what waits.
            "shared" => Shared(crate::elements::shared::SharedSpec),
            /// Token bucket with a queue.
            "shaper" => Shaper(crate::elements::shaper::ShaperSpec),
            /// Token bucket without a queue.
            "policer" => Policer(crate::elements::policer::PolicerSpec),
            /// Constant delay.
            "delay" => Delay(crate::elements::delay::DelaySpec),
            /// Random delay.
            "jitter" => Jitter(crate::elements::jitter::JitterSpec),
            /// Slotted delivery.
            "aggregate" => Aggregate(crate::elements::aggregate::AggregateSpec),
            /// Bursty deliveries.
            "slotted" => Slotted(crate::elements::slotted::SlottedSpec),
            /// Grants that have to be asked for.
            "granted" => Granted(crate::elements::granted::GrantedSpec),
            /// Independent, periodic or listed loss.
            "loss" => Loss(crate::elements::loss::LossSpec),
            /// Bursty loss.
            "gilbert-elliott" => GilbertElliott(crate::elements::gilbert_elliott::GilbertElliottSpec),
            /// Holding packets back.
            "reorder" => Reorder(crate::elements::reorder::ReorderSpec),
            /// Copying packets.
            "duplicate" => Duplicate(crate::elements::duplicate::DuplicateSpec),
            /// Delay and shaper with one limit for both.
            "netem" => Netem(crate::elements::netem::NetemSpec),
        }
    };
}
pub(crate) use element_kinds;
