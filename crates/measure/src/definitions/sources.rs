//! Common sources of metrics.

pub(super) const PANTHEON: &str = "Pantheon, src/analysis/tunnel_graph.py";
pub(super) const OWN: &str = "dumbbell: what Pantheon's metrics lack";
pub(super) const RFC5166: &str = "RFC 5166";
pub(super) const RFC7679: &str = "RFC 7679 (delay); percentile by nearest rank as Pantheon's";
pub(super) const RFC7680: &str = "RFC 7680 (loss); RFC 5166";
pub(super) const RFC7928: &str = "RFC 7928";
pub(super) const RFC9743: &str = "for RFC 9743";
pub(super) const CCPERF: &str = "ccperf, as exact time integral";
