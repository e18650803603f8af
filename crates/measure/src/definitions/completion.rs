//! Statistics of finite transfers of one size.

use super::definition::Better::{Less, More, Neutral};
use super::definition::Convention::{Corrected, Counter};
use super::row::{label, metric, statistics};
use super::sources::RFC7928;
use crate::meters::FiniteTransfers;

statistics! {
    /// Completion times of the transfers of one size.
    Completion, "completions.", of FiniteTransfers {
        bytes: u64 = label("size of the transfers") => |transfers| transfers.bytes;
        flows: u64 = metric("flows", Neutral, Counter, "finite transfers of one size", RFC7928)
            => |transfers| transfers.flows;
        completed: u64 = metric("flows", More, Counter, "those that were completed", RFC7928)
            => FiniteTransfers::completed;
        mean_s: Option<f64> = metric("s", Less, Corrected, "fct_mean_s of one size", RFC7928)
            => FiniteTransfers::mean_s;
        p50_s: Option<f64> = metric("s", Less, Corrected, "fct_p50_s of one size", RFC7928)
            => |transfers| transfers.percentile_s(50.0);
        p95_s: Option<f64> = metric("s", Less, Corrected, "fct_p95_s of one size", RFC7928)
            => |transfers| transfers.percentile_s(95.0);
        p99_s: Option<f64> = metric("s", Less, Corrected, "fct_p99_s of one size", RFC7928)
            => |transfers| transfers.percentile_s(99.0);
    }
}
