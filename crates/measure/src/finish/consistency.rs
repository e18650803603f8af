//! Consistency of a run's numbers. Published tables of other projects are not always consistent
//! (`docs/evidence/derivations.md`, ns-3).

use crate::definitions::RunStats;

/// Maximum relative error from a different order of summation.
const TOLERANCE: f64 = 1e-9;

fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > TOLERANCE * one.abs().max(other.abs()).max(1.0)
}

/// Returns one line that describes a contradiction in the statistics, if there is one. `sampled_mbps`: the flows'
/// throughputs as means over samples. `active_s`: the times of the throughput means, s. `aggregate_s`: the time of the
/// aggregate's mean, s.
pub(crate) fn contradiction(
    stats: &RunStats,
    sampled_mbps: &[Option<f64>],
    active_s: &[f64],
    aggregate_s: f64,
) -> Option<String> {
    let network = &stats.network;
    let of_flows = stats.flows.iter().map(|flow| flow.mean_throughput_l4).zip(active_s);
    let sum: f64 = of_flows.map(|(mbps, seconds)| mbps.unwrap_or(0.0) * seconds).sum();
    if let Some(aggregate) = network.mean_agg_throughput_l4.filter(|&mbps| differ(mbps * aggregate_s, sum)) {
        return Some(format!("mean_agg_throughput_l4 = {aggregate}: the flows have {}", sum / aggregate_s));
    }
    let (jain, entropy) =
        (network.mean_jains_fairness_throughput_l4?, network.mean_entropy_fairness_throughput_l4?);
    let n = stats.flows.len() as f64;
    // For one flow the index is 1 and the entropy 0.
    if jain > 1.0 + TOLERANCE || jain < 1.0 / n - TOLERANCE {
        return Some(format!("mean_jains_fairness_throughput_l4 = {jain}: of {n} flows it is 1/{n} to 1"));
    }
    if entropy < -TOLERANCE || entropy > libm::log(n) + TOLERANCE {
        return Some(format!(
            "mean_entropy_fairness_throughput_l4 = {entropy}: of {n} flows it is 0 to ln {n}"
        ));
    }
    if let ([Some(mbps)], Some(product)) = (sampled_mbps, network.mean_product_fairness_throughput_l4)
        && differ(*mbps, product)
    {
        return Some(format!(
            "mean_product_fairness_throughput_l4 = {product}: of one flow it is its throughput {mbps}"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{FlowStats, NetworkStats};

    fn stats(throughputs: &[f64], network: NetworkStats) -> RunStats {
        let flow = |&mbps: &f64| FlowStats { mean_throughput_l4: Some(mbps), ..FlowStats::default() };
        RunStats { flows: throughputs.iter().map(flow).collect(), network, ..RunStats::default() }
    }

    fn network(aggregate: f64, jain: f64, entropy: f64, product: f64) -> NetworkStats {
        NetworkStats {
            mean_agg_throughput_l4: Some(aggregate),
            mean_jains_fairness_throughput_l4: Some(jain),
            mean_entropy_fairness_throughput_l4: Some(entropy),
            mean_product_fairness_throughput_l4: Some(product),
            ..NetworkStats::default()
        }
    }

    #[test]
    fn numbers_that_fit_are_no_contradiction() {
        let one = stats(&[75.6], network(75.6, 1.0, 0.0, 74.9));
        assert_eq!(contradiction(&one, &[Some(74.9)], &[15.0], 15.0), None);
        // The second flow is active for half of the time.
        let two = stats(&[6.0, 4.0], network(8.0, 0.9, 0.5, 24.0));
        assert_eq!(contradiction(&two, &[Some(6.0), Some(4.0)], &[10.0, 5.0], 10.0), None);
    }

    #[test]
    fn the_published_block_of_one_flow_contradicts_itself() {
        // Experiment #15 prints 27.72, 0.91, 1.61 and 13712.03 for a flow of 75.6 Mbit/s.
        let check = |network| {
            contradiction(&stats(&[75.6], network), &[Some(75.6)], &[15.0], 15.0).expect("a contradiction")
        };
        assert!(check(network(27.72, 0.91, 1.61, 13_712.03)).starts_with("mean_agg_throughput_l4 = 27.72"));
        assert!(check(network(75.6, 0.91, 1.61, 13_712.03)).contains("jains_fairness_throughput_l4 = 0.91"));
        assert!(check(network(75.6, 1.0, 1.61, 13_712.03)).contains("entropy_fairness_throughput_l4 = 1.61"));
        assert!(check(network(75.6, 1.0, 0.0, 13_712.03)).contains("of one flow it is its throughput 75.6"));
    }
}
