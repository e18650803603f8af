//! The kinds of elements: the value of `kind` and the table of its settings. A new element is a file and a line here.

/// Calls the macro `$then` with the list.
macro_rules! element_kinds {
    ($then:ident) => {
        $then! {
            /// Constant rate.
            "link" => Link(crate::link::LinkSpec),
            /// Delivery opportunities from a trace.
            "trace" => Trace(crate::trace::TraceSpec),
            /// Delivery opportunities of a Poisson process.
            "poisson" => Poisson(crate::poisson::PoissonSpec),
            /// Delivery opportunities of a rate that wanders and stops.
            "cellular" => Cellular(crate::cellular::CellularSpec),
            /// A rate that goes by what waits.
            "shared" => Shared(crate::shared::SharedSpec),
            /// Token bucket with a queue.
            "shaper" => Shaper(crate::shaper::ShaperSpec),
            /// Token bucket without a queue.
            "policer" => Policer(crate::policer::PolicerSpec),
            /// Constant delay.
            "delay" => Delay(crate::delay::DelaySpec),
            /// Random delay.
            "jitter" => Jitter(crate::jitter::JitterSpec),
            /// Slotted delivery.
            "aggregate" => Aggregate(crate::aggregate::AggregateSpec),
            /// Bursty deliveries.
            "slotted" => Slotted(crate::slotted::SlottedSpec),
            /// Grants that have to be asked for.
            "granted" => Granted(crate::granted::GrantedSpec),
            /// Independent, periodic or listed loss.
            "loss" => Loss(crate::loss::LossSpec),
            /// Bursty loss.
            "gilbert-elliott" => GilbertElliott(crate::gilbert_elliott::GilbertElliottSpec),
            /// Holding packets back.
            "reorder" => Reorder(crate::reorder::ReorderSpec),
            /// Copying packets.
            "duplicate" => Duplicate(crate::duplicate::DuplicateSpec),
            /// Delay and shaper with one limit for both.
            "netem" => Netem(crate::netem::NetemSpec),
        }
    };
}
pub(crate) use element_kinds;
