//! Throughput as a share of an experiment's largest, and mean queueing delay, over many experiments.
//!
//! These are the values of the Copa paper's Figure 5 and its reproduction's Table 1, from Pantheon's logs
//! (`nadinelyab/Copa_Reproduction@72499f0, avg_delay.py`, `final_aggregate_delay.py`). An experiment is one path on
//! which several schemes were run.

use super::averages::mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rate from which on flows are left out: Copa's program does not scale to it (Copa paper, section 5.2).
pub const MOST_MBPS: f64 = 120.0;
/// Initial value of the published scripts' search for a flow's smallest delay.
const LEGACY_LEAST_DELAY_MS: f64 = 1000.0;

/// One flow of one run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowOfRun {
    /// Experiment of the flow.
    pub experiment: String,
    /// Scheme of the flow.
    pub scheme: String,
    /// Throughput, Mbit/s (Pantheon's convention).
    pub throughput_mbps: f64,
    /// `queueing_delay_mean_ms` of the flow; `None` if no packet arrived.
    pub queueing_delay_ms: Option<f64>,
    /// Smallest one-way delay of the flow's packets, ms.
    pub owd_min_ms: Option<f64>,
}

/// Denominators and start of the means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denominators {
    /// Only experiments in which the scheme has a delay count.
    Own,
    /// As published: a scheme's delays are divided by the number of all experiments, including those without it. No
    /// flow's smallest delay counts as more than a second.
    Legacy,
}

/// Means of one scheme over all experiments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NormalisedScheme {
    /// The scheme.
    pub scheme: String,
    /// Mean over the scheme's flows and runs of throughput / the largest of any flow in the experiment.
    pub throughput: f64,
    /// Mean over the scheme's experiments of the mean over flows and runs of (mean - smallest one-way delay), ms.
    pub queueing_delay_ms: Option<f64>,
    /// Number of flows that count.
    pub flows: usize,
    /// Number of experiments with these flows.
    pub experiments: usize,
}

/// Returns the normalised means of each scheme, in order of names; flows of `most_mbps` or more are left out.
pub fn normalised(flows: &[FlowOfRun], most_mbps: f64, denominators: Denominators) -> Vec<NormalisedScheme> {
    let slow_flows: Vec<_> = flows.iter().filter(|flow| flow.throughput_mbps < most_mbps).collect();
    let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
    let mut schemes: BTreeMap<&str, BTreeMap<&str, Vec<&FlowOfRun>>> = BTreeMap::new();
    for flow in slow_flows {
        let most = largest.entry(&flow.experiment).or_default();
        *most = most.max(flow.throughput_mbps);
        schemes.entry(&flow.scheme).or_default().entry(&flow.experiment).or_default().push(flow);
    }
    let all = largest.len();
    let scheme = |(name, experiments): (&&str, &BTreeMap<&str, Vec<&FlowOfRun>>)| {
        let shares: Vec<f64> = experiments
            .iter()
            .flat_map(|(experiment, flows)| {
                flows.iter().map(|flow| (flow.throughput_mbps, largest[experiment]))
            })
            .map(|(mbps, most)| if most > 0.0 { mbps / most } else { 0.0 })
            .collect();
        let delays: Vec<f64> =
            experiments.values().filter_map(|flows| queueing_delay_ms(flows, denominators)).collect();
        let queueing_delay_ms = match denominators {
            Denominators::Own => mean(&delays),
            Denominators::Legacy => (!delays.is_empty()).then(|| delays.iter().sum::<f64>() / all as f64),
        };
        NormalisedScheme {
            scheme: (*name).to_owned(),
            throughput: mean(&shares).unwrap_or(0.0),
            queueing_delay_ms,
            flows: shares.len(),
            experiments: experiments.len(),
        }
    };
    schemes.iter().map(scheme).collect()
}

fn queueing_delay_ms(flows: &[&FlowOfRun], denominators: Denominators) -> Option<f64> {
    let delays: Vec<f64> = flows
        .iter()
        .filter_map(|flow| {
            let beyond = match denominators {
                Denominators::Own => 0.0,
                Denominators::Legacy => (flow.owd_min_ms? - LEGACY_LEAST_DELAY_MS).max(0.0),
            };
            Some(flow.queueing_delay_ms? + beyond)
        })
        .collect();
    mean(&delays)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(experiment: &str, scheme: &str, mbps: f64, queueing_ms: f64, min_ms: f64) -> FlowOfRun {
        FlowOfRun {
            experiment: experiment.into(),
            scheme: scheme.into(),
            throughput_mbps: mbps,
            queueing_delay_ms: Some(queueing_ms),
            owd_min_ms: Some(min_ms),
        }
    }

    fn flows() -> Vec<FlowOfRun> {
        vec![
            flow("wired", "copa", 60.0, 4.0, 50.0),
            flow("wired", "copa", 80.0, 6.0, 50.0),
            flow("wired", "bbr", 100.0, 20.0, 50.0),
            // left out, also from the experiment's largest
            flow("wired", "bbr", 120.0, 40.0, 50.0),
            flow("far", "bbr", 10.0, 100.0, 1_200.0),
            FlowOfRun { queueing_delay_ms: None, owd_min_ms: None, ..flow("far", "dead", 0.0, 0.0, 0.0) },
        ]
    }

    #[test]
    fn shares_are_of_the_largest_flow_and_delays_of_the_experiments_that_have_the_scheme() {
        let results = normalised(&flows(), MOST_MBPS, Denominators::Own);
        let expected = [
            // 100/100 and 10/10; 20 and 100 ms
            ("bbr", 1.0, Some(60.0), 2, 2),
            // 0.6 and 0.8; (4 + 6) / 2 in its only experiment
            ("copa", 0.7, Some(5.0), 2, 1),
            ("dead", 0.0, None, 1, 1),
        ];
        for (result, (scheme, throughput, queueing_delay_ms, flows, experiments)) in
            results.iter().zip(expected)
        {
            let scheme = scheme.to_owned();
            assert_eq!(
                *result,
                NormalisedScheme { scheme, throughput, queueing_delay_ms, flows, experiments }
            );
        }
        assert_eq!(results.len(), 3);
    }

    #[test]
    fn the_published_denominators_are_all_experiments_and_no_smallest_delay_is_above_a_second() {
        let results = normalised(&flows(), MOST_MBPS, Denominators::Legacy);
        // bbr: (20 + (1,300 - 1,000)) / 2; copa: 5 / 2, though it was only in one of the two experiments
        let delays: Vec<_> = results.iter().map(|each| each.queueing_delay_ms).collect();
        assert_eq!(delays, [Some(160.0), Some(2.5), None]);
        let own = normalised(&flows(), MOST_MBPS, Denominators::Own);
        assert!(results.iter().zip(&own).all(|(legacy, own)| legacy.throughput == own.throughput));
    }
}
