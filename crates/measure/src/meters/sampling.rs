//! Sample intervals over all flows: fairness, utilities, convergence and the response to changes.

use super::convergence::Convergence;
use super::flow::{FlowMeter, Surroundings};
use crate::inputs::Sample;
use crate::statistics::{Moments, entropy_of, jain_index_of};
use units::{Span, Time};

/// Follows the samples of a run.
#[derive(Clone, Debug)]
pub(crate) struct Sampling {
    /// Nominal interval.
    pub(crate) interval: Span,
    /// End of the latest interval.
    until: Time,
    last_change: Option<Time>,
    /// Capacities of the two directions in the latest interval before the change.
    before_change_mbps: [Option<f64>; 2],
    pub(crate) jain: Moments,
    pub(crate) entropy: Moments,
    pub(crate) product: Moments,
    pub(crate) utility_pf: Moments,
    pub(crate) utility_mpdf: Moments,
    pub(crate) convergence: Convergence,
}

impl Sampling {
    pub(crate) fn new(interval: Span, delta: f64, last_change: Option<Time>) -> Self {
        Self {
            interval,
            until: Time::ZERO,
            last_change,
            before_change_mbps: [None; 2],
            jain: Moments::default(),
            entropy: Moments::default(),
            product: Moments::default(),
            utility_pf: Moments::default(),
            utility_mpdf: Moments::default(),
            convergence: Convergence::new(delta, interval),
        }
    }

    /// Handles the end of an interval.
    pub(crate) fn close(&mut self, sample: &Sample<'_>, flows: &mut [FlowMeter]) {
        let from = core::mem::replace(&mut self.until, sample.at);
        let span = sample.at - from;
        if span.is_zero() {
            return;
        }
        let mut active = [0_u64; 2];
        for flow in flows.iter_mut() {
            let is_active = flow.info.start <= from && sample.at <= flow.active_until();
            flow.samples.measure(span, is_active);
            active[usize::from(flow.info.facts.reverse)] += u64::from(is_active);
        }
        let confined = flows.iter().any(|flow| flow.info.facts.confined);
        let capacity_bits = sample.capacity_bits.map(|bits| bits.filter(|_| !confined));
        let sample = &Sample { capacity_bits, ..*sample };
        let around =
            [0, 1].map(|direction| self.surroundings(direction, from, span, sample, active[direction]));
        for (index, flow) in flows.iter_mut().enumerate() {
            let state = sample.flows.get(index).and_then(Option::as_ref);
            let facts = &flow.info.facts;
            let around = &around[usize::from(facts.reverse)];
            if let Some(mbps) = around.capacity_mbps {
                flow.samples.offer(mbps, flow.active_until().min(sample.at) - flow.info.start.max(from));
            }
            flow.samples.take_in(state, around, facts.elastic);
        }
        self.take_in(flows);
        if active[0] + active[1] == flows.len() as u64 {
            self.convergence.advance(sample.at.as_ns(), flows);
        }
        for flow in flows {
            flow.samples.restart();
        }
    }

    fn surroundings(
        &mut self,
        direction: usize,
        from: Time,
        span: Span,
        sample: &Sample<'_>,
        flows: u64,
    ) -> Surroundings {
        // 1 bit/ns is 1000 Mbit/s.
        let capacity_mbps =
            sample.capacity_bits[direction].map(|bits| bits as f64 * 1_000.0 / span.as_ns() as f64);
        let since_change = self.last_change.filter(|&change| change <= from).map(|change| {
            let before = self.before_change_mbps[direction];
            (sample.at - change, before.zip(capacity_mbps).is_some_and(|(before, now)| now < before))
        });
        if self.last_change.is_some_and(|change| sample.at <= change) {
            self.before_change_mbps[direction] = capacity_mbps;
        }
        Surroundings { span, capacity_mbps, flows, since_change }
    }

    /// Adds fairness and utilities of the flows that were active (`docs/reference/metrics.md`).
    fn take_in(&mut self, flows: &[FlowMeter]) {
        let rates = flows.iter().filter_map(|flow| flow.samples.active_mbps);
        if rates.clone().next().is_none() {
            return;
        }
        self.product.add(rates.clone().product());
        if let (Some(jain), Some(entropy)) = (jain_index_of(rates.clone()), entropy_of(rates.clone())) {
            self.jain.add(jain);
            self.entropy.add(entropy);
        }
        let positive = rates.filter(|&rate| rate > 0.0);
        if positive.clone().next().is_some() {
            self.utility_pf.add(positive.clone().map(libm::log).sum());
            self.utility_mpdf.add(positive.map(|rate| -1.0 / rate).sum());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{FlowFacts, FlowInfo};

    const INTERVAL: Span = Span::from_ms(100);

    fn flow(start_ms: u64, stop_ms: u64) -> FlowMeter {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let facts = FlowFacts { elastic: true, ..FlowFacts::default() };
        FlowMeter::new(FlowInfo { start: at(start_ms), stop: at(stop_ms), facts, ..FlowInfo::default() }, 0)
    }

    /// Closes one interval per element: bytes read by each flow and capacity of the data direction, Mbit/s.
    fn run(sampling: &mut Sampling, flows: &mut [FlowMeter], intervals: &[(&[u64], f64)]) {
        for (index, (bytes, capacity_mbps)) in intervals.iter().enumerate() {
            for (flow, &bytes) in flows.iter_mut().zip(*bytes) {
                flow.samples.read(0, bytes, None);
                flow.samples.send(bytes as u32, 0);
                flow.samples.deliver(0, bytes as u32, 0);
            }
            let capacity_bits = [Some((capacity_mbps * 1e5) as u128), None];
            let at = Time::ZERO + INTERVAL * (index as u64 + 1);
            sampling.close(&Sample { at, flows: &[], capacity_bits }, flows);
        }
    }

    fn sampling(last_change_ms: Option<u64>) -> Sampling {
        Sampling::new(INTERVAL, 0.0, last_change_ms.map(|ms| Time::ZERO + Span::from_ms(ms)))
    }

    #[test]
    fn two_flows_three_to_one() {
        let (mut sampling, mut flows) = (sampling(None), [flow(0, 1_000), flow(0, 1_000)]);
        // 3 and 1 Mbit/s.
        run(&mut sampling, &mut flows, &[(&[37_500, 12_500][..], 4.0); 5]);
        assert!((sampling.jain.mean().unwrap() - 0.8).abs() < 1e-12);
        assert!((sampling.entropy.mean().unwrap() - 0.5623).abs() < 5e-5);
        // 3 x^2 with x = 1; ln 3 + ln 1; -1/3 - 1 (`docs/evidence/derivations.md`, ns-3).
        assert!((sampling.product.mean().unwrap() - 3.0).abs() < 1e-12);
        assert!((sampling.utility_pf.mean().unwrap() - 1.098_612).abs() < 1e-6);
        assert!((sampling.utility_mpdf.mean().unwrap() + 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_flow_is_fair_without_entropy_and_its_product_is_its_throughput() {
        let (mut sampling, mut flows) = (sampling(None), [flow(0, 1_000)]);
        run(&mut sampling, &mut flows, &[(&[10_000], 4.0), (&[0], 4.0), (&[30_000], 4.0)]);
        assert_eq!((sampling.jain.mean(), sampling.entropy.mean()), (Some(1.0), Some(0.0)));
        assert_eq!(sampling.product.mean(), flows[0].samples.throughput_mbps.mean());
    }

    #[test]
    fn flows_count_while_they_are_active_for_a_whole_interval() {
        // The second flow is active from 150 to 350 ms: in the interval from 200 to 300 ms.
        let (mut sampling, mut flows) = (sampling(None), [flow(0, 1_000), flow(150, 350)]);
        run(&mut sampling, &mut flows, &[(&[12_500, 12_500][..], 4.0); 4]);
        assert_eq!(flows[1].samples.throughput_mbps.mean(), Some(1.0));
        // The product is 1 for one flow, three times, and 1 x 1 for two flows: ln 2 of entropy in one of four
        // intervals.
        assert!((sampling.entropy.mean().unwrap() - libm::log(2.0) / 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_capacity_of_an_interval_counts_as_long_as_the_flow_was_active_in_it() {
        let (mut sampling, mut flows) = (sampling(None), [flow(75, 150), flow(320, 330)]);
        run(&mut sampling, &mut flows, &[(&[0, 0], 4.0), (&[0, 0], 16.0), (&[0, 0], 1.0), (&[0, 0], 2.0)]);
        // 25 ms at 4 Mbit/s and 50 ms at 16 Mbit/s.
        assert!((flows[0].samples.capacity_mbps().unwrap() - 12.0).abs() < 1e-12);
        assert_eq!(flows[1].samples.capacity_mbps(), Some(2.0));
    }

    #[test]
    fn a_change_counts_from_the_first_whole_interval_after_it() {
        let (mut sampling, mut flows) = (sampling(Some(150)), [flow(0, 1_000)]);
        let intervals = [(4.0, 50_000), (6.0, 100_000), (8.0, 75_000), (8.0, 90_000), (8.0, 100_000)];
        for (index, (capacity_mbps, bytes)) in intervals.into_iter().enumerate() {
            flows[0].samples.deliver(0, bytes, 0);
            let at = Time::ZERO + INTERVAL * (index as u64 + 1);
            let capacity_bits = [Some((capacity_mbps * 1e5) as u128), None];
            sampling.close(&Sample { at, flows: &[], capacity_bits }, &mut flows);
        }
        // From 200 ms on 6, 7.2 and 8 of 8 Mbit/s: 90 % at 400 ms, then also within 20 %.
        let response = flows[0].samples.response;
        assert_eq!((response.to_90, response.settling), (Some(Span::from_ms(250)), Some(Span::from_ms(250))));
    }

    #[test]
    fn a_drop_is_known_by_the_capacity_before() {
        let (mut sampling, mut flows) = (sampling(Some(200)), [flow(0, 1_000)]);
        // The sender sends on at 8 Mbit/s into 4 Mbit/s; then at 4.4 Mbit/s.
        let intervals: [(&[u64], f64); 4] =
            [(&[100_000], 8.0), (&[100_000], 8.0), (&[100_000], 4.0), (&[55_000], 4.0)];
        run(&mut sampling, &mut flows, &intervals);
        assert_eq!(flows[0].samples.response.to_90, Some(Span::from_ms(200)));
    }
}
