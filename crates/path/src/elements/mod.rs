//! The kinds of elements: the value of `kind`, the module, and the table of its settings. A new element is a file and a
//! line here.

/// Calls the macro `$then` with the list.
macro_rules! element_kinds {
    ($then:ident) => {
        $then! {
            /// Constant rate.
            "link" => link::Link(LinkSpec),
            /// Delivery opportunities from a trace.
            "trace" => trace::Trace(TraceSpec),
            /// Delivery opportunities of a Poisson process.
            "poisson" => poisson::Poisson(PoissonSpec),
            /// Delivery opportunities of a rate that wanders and stops.
            "cellular" => cellular::Cellular(CellularSpec),
            /// A rate that goes by what waits.
            "shared" => shared::Shared(SharedSpec),
            /// A channel that both directions take turns on.
            "half-duplex" => half_duplex::HalfDuplex(HalfDuplexSpec),
            /// Token bucket with a queue.
            "shaper" => shaper::Shaper(ShaperSpec),
            /// Token bucket without a queue.
            "policer" => policer::Policer(PolicerSpec),
            /// Constant delay.
            "delay" => delay::Delay(DelaySpec),
            /// Random delay.
            "jitter" => jitter::Jitter(JitterSpec),
            /// Slotted delivery.
            "aggregate" => aggregate::Aggregate(AggregateSpec),
            /// Bursty deliveries.
            "slotted" => slotted::Slotted(SlottedSpec),
            /// Grants that have to be asked for.
            "granted" => granted::Granted(GrantedSpec),
            /// Independent, periodic or listed loss.
            "loss" => loss::Loss(LossSpec),
            /// Another ECN codepoint.
            "remark" => remark::Remark(RemarkSpec),
            /// Bursty loss.
            "gilbert-elliott" => gilbert_elliott::GilbertElliott(GilbertElliottSpec),
            /// Nothing passes from time to time.
            "blackout" => blackout::Blackout(BlackoutSpec),
            /// Holding packets back.
            "reorder" => reorder::Reorder(ReorderSpec),
            /// Copying packets.
            "duplicate" => duplicate::Duplicate(DuplicateSpec),
            /// Delay and shaper with one limit for both.
            "netem" => netem::Netem(NetemSpec),
        }
    };
}
pub(crate) use element_kinds;

/// Makes the modules of the list, and names its tables.
macro_rules! modules {
    ($($(#[$doc:meta])* $name:literal => $module:ident::$kind:ident($table:ident),)+) => {
        $(pub(crate) mod $module;)+

        /// The settings of every kind.
        pub(crate) mod tables {
            $(pub use super::$module::$table;)+
        }
    };
}
element_kinds!(modules);
