//! Kinds of elements: the value of `kind`, the module, and the table of settings. A new element needs a file and a line
//! here.

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
            /// Delivery opportunities of a random rate that can stop.
            "cellular" => cellular::Cellular(CellularSpec),
            /// Rate that depends on the backlog.
            "shared" => shared::Shared(SharedSpec),
            /// Channel that both directions use in turns.
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
            /// Uplink grants that must be requested.
            "granted" => granted::Granted(GrantedSpec),
            /// Independent, periodic or listed loss.
            "loss" => loss::Loss(LossSpec),
            /// Rewriting of the ECN codepoint.
            "remark" => remark::Remark(RemarkSpec),
            /// Bursty loss.
            "gilbert-elliott" => gilbert_elliott::GilbertElliott(GilbertElliottSpec),
            /// Periodic blackouts.
            "blackout" => blackout::Blackout(BlackoutSpec),
            /// Reordering of packets.
            "reorder" => reorder::Reorder(ReorderSpec),
            /// Duplication of packets.
            "duplicate" => duplicate::Duplicate(DuplicateSpec),
            /// Delay and shaper with a common limit.
            "netem" => netem::Netem(NetemSpec),
        }
    };
}
pub(crate) use element_kinds;

/// Declares the modules of the list and exports their tables.
macro_rules! modules {
    ($($(#[$doc:meta])* $name:literal => $module:ident::$kind:ident($table:ident),)+) => {
        $(pub(crate) mod $module;)+

        /// Settings of every kind.
        pub(crate) mod tables {
            $(pub use super::$module::$table;)+
        }
    };
}
element_kinds!(modules);
