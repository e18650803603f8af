//! Times and rates of probes for more capacity (libwebrtc M150,
//! `modules/congestion_controller/goog_cc/probe_controller.cc`).

use super::numbers::secs;
use crate::Parameters;
use units::Time;

/// First two probes, as multiples of the start rate.
const INITIAL_SCALES: [f64; 2] = [3.0, 6.0];
/// Fraction of a probe's rate that its result must exceed for a further probe.
const FURTHER_THRESHOLD: f64 = 0.7;
/// Rate of a further probe, as a multiple of the result.
const FURTHER_SCALE: f64 = 2.0;
/// Time without a result after which probing ends, s.
const RESULT_TIMEOUT_S: f64 = 1.0;
/// Maximum rate of a probe if no overall maximum is set, bit/s.
const DEFAULT_MAX: f64 = 5e6;
/// Fraction of the estimate below which a drop causes a probe.
const DROP_THRESHOLD: f64 = 0.66;
/// Rate of that probe, as a fraction of the rate before the drop.
const AFTER_DROP_SCALE: f64 = 0.85;
/// Tolerance of the probe's result, which must be above the present rate.
const UNCERTAINTY: f64 = 0.05;
/// Maximum time from the drop to that probe, and minimum time from the previous one, s.
const AFTER_DROP_S: f64 = 5.0;
/// Time after its end for which an application-limited region still counts, s.
const ALR_ENDED_S: f64 = 3.0;
/// Periodic probes in application-limited regions: gap, s, and rate as a multiple of the estimate.
const ALR_PERIOD_S: f64 = 5.0;
const ALR_SCALE: f64 = 2.0;
/// Maximum rate of a probe while a loss-based estimate recovers, as a multiple of the estimate.
const LOSS_LIMITED_SCALE: f64 = 1.5;

/// Limit of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Delay-based estimate only.
    DelayBased,
    /// Congestion, which forbids probes: the queue grows or drains, losses lower the estimate, padding tests it, or the
    /// RTT is too long.
    Congested,
    /// Losses, while the estimate recovers without padding.
    LossBasedIncreasing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Complete,
}

/// Rates to probe at, one cluster each, bit/s: at most two.
pub(super) type Probes = [Option<f64>; 2];
const NONE: Probes = [None; 2];

/// Controller of probes.
#[derive(Debug)]
pub(super) struct Probing {
    enabled: bool,
    periodic: bool,
    /// Maximum rate of a probe, bit/s.
    max: f64,
    state: State,
    estimate: f64,
    limit: Limit,
    /// Result above which a further probe follows, bit/s.
    further_above: f64,
    initiated_at: Time,
    dropped_at: Option<Time>,
    before_drop: f64,
    drop_probed_at: Option<Time>,
    alr_since: Option<Time>,
    alr_ended_at: Option<Time>,
}

impl Probing {
    /// Returns a controller. `max_rate` is the overall maximum, bit/s, infinite for none.
    pub(super) fn new(parameters: &Parameters, start_rate: f64, max_rate: f64) -> Self {
        let max = if max_rate.is_finite() { max_rate } else { DEFAULT_MAX };
        let allocated = parameters.number("allocated_mbps") * 1e6;
        Self {
            enabled: parameters.flag("probing"),
            periodic: parameters.flag("alr_probing"),
            // Twice the streams' allocation is enough for their bursts.
            max: if allocated > 0.0 { max.min(2.0 * allocated) } else { max },
            state: State::Complete,
            estimate: start_rate,
            limit: Limit::DelayBased,
            further_above: f64::INFINITY,
            initiated_at: Time::ZERO,
            dropped_at: None,
            before_drop: 0.0,
            drop_probed_at: None,
            alr_since: None,
            alr_ended_at: None,
        }
    }

    /// Begins with the first probes when the network is up.
    pub(super) fn start(&mut self, now: Time) -> Probes {
        self.initiate(now, INITIAL_SCALES.map(|scale| Some(scale * self.estimate)), true)
    }

    /// Sets a new target, bit/s.
    pub(super) fn set_estimate(&mut self, now: Time, estimate: f64, limit: Limit) -> Probes {
        self.limit = limit;
        if estimate < DROP_THRESHOLD * self.estimate {
            self.dropped_at = Some(now);
            self.before_drop = self.estimate;
        }
        self.estimate = estimate;
        if self.state == State::Waiting && estimate > self.further_above {
            return self.initiate(now, [Some(FURTHER_SCALE * estimate), None], true);
        }
        NONE
    }

    /// Handles the end of a drain after overuse. Probes whether the drop of the estimate was temporary.
    pub(super) fn on_recovery(&mut self, now: Time) -> Probes {
        let ended_recently = self.alr_ended_at.is_some_and(|ended| secs(now - ended) < ALR_ENDED_S);
        if !(self.alr_since.is_some() || ended_recently) || self.state != State::Complete {
            return NONE;
        }
        let probe = AFTER_DROP_SCALE * self.before_drop;
        let dropped_recently = self.dropped_at.is_some_and(|dropped| secs(now - dropped) < AFTER_DROP_S);
        let may_again = self.drop_probed_at.is_none_or(|probed| secs(now - probed) > AFTER_DROP_S);
        if (1.0 - UNCERTAINTY) * probe > self.estimate && dropped_recently && may_again {
            self.drop_probed_at = Some(now);
            return self.initiate(now, [Some(probe), None], false);
        }
        NONE
    }

    /// Sets the beginning of the application-limited region; `None` outside of one.
    pub(super) fn set_alr(&mut self, now: Time, since: Option<Time>) {
        if self.alr_since.is_some() && since.is_none() {
            self.alr_ended_at = Some(now);
        }
        self.alr_since = since;
    }

    /// Handles the process interval.
    pub(super) fn process(&mut self, now: Time) -> Probes {
        if self.state == State::Waiting && secs(now - self.initiated_at) > RESULT_TIMEOUT_S {
            self.state = State::Complete;
        }
        let is_due = |since: Time| secs(now - since.max(self.initiated_at)) >= ALR_PERIOD_S;
        if self.periodic && self.state == State::Complete && self.alr_since.is_some_and(is_due) {
            return self.initiate(now, [Some(ALR_SCALE * self.estimate), None], true);
        }
        NONE
    }

    fn initiate(&mut self, now: Time, mut probes: Probes, mut further: bool) -> Probes {
        let max = match self.limit {
            Limit::Congested => return NONE,
            Limit::LossBasedIncreasing => self.max.min(LOSS_LIMITED_SCALE * self.estimate),
            Limit::DelayBased => self.max,
        };
        if !self.enabled {
            return NONE;
        }
        for rate in probes.iter_mut().flatten() {
            if *rate >= max {
                *rate = max;
                further = false;
            }
        }
        self.initiated_at = now;
        let fastest = probes.iter().flatten().copied().fold(0.0, f64::max);
        (self.state, self.further_above) = if further {
            (State::Waiting, FURTHER_THRESHOLD * fastest)
        } else {
            (State::Complete, f64::INFINITY)
        };
        probes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn probing(settings: &[(&str, &str)], max_rate: f64) -> Probing {
        let mut parameters = Parameters::defaults(super::super::ENTRY.parameters);
        for (name, value) in settings {
            parameters.set(name, value).unwrap();
        }
        Probing::new(&parameters, 3e5, max_rate)
    }

    #[test]
    fn it_begins_at_three_and_six_times_the_start_and_doubles_what_it_finds_up_to_its_cap() {
        let mut probing = probing(&[], f64::INFINITY);
        assert_eq!(probing.start(at(0)), [3.0 * 3e5, 6.0 * 3e5].map(Some));
        assert_eq!(probing.set_estimate(at(50), 0.9e6, Limit::DelayBased), NONE);
        // The result is more than 0.7 x 1.8 Mbit/s.
        assert_eq!(probing.set_estimate(at(60), 1.8e6, Limit::DelayBased), [Some(3.6e6), None]);
        assert_eq!(probing.set_estimate(at(160), 3.6e6, Limit::DelayBased), [Some(5e6), None]);
        assert_eq!(probing.set_estimate(at(260), 5e6, Limit::DelayBased), NONE);
    }

    #[test]
    fn the_cap_is_the_overall_maximum_or_twice_the_allocation() {
        for (allocated, max, cap) in
            [("2", f64::INFINITY, 4e6), ("16", 16e6, 16e6), ("0", f64::INFINITY, 5e6)]
        {
            let mut probing = probing(&[("allocated_mbps", allocated)], max);
            probing.start(at(0));
            assert_eq!(probing.set_estimate(at(50), 30e6, Limit::DelayBased), [Some(cap), None]);
        }
    }

    #[test]
    fn a_second_without_result_ends_it_and_congestion_forbids_it() {
        let mut late = probing(&[], f64::INFINITY);
        late.start(at(0));
        late.process(at(1001));
        assert_eq!(late.set_estimate(at(1002), 2e6, Limit::DelayBased), NONE);
        let mut limited = probing(&[], f64::INFINITY);
        limited.start(at(0));
        assert_eq!(limited.set_estimate(at(50), 2e6, Limit::Congested), NONE);
        assert_eq!(limited.set_estimate(at(60), 2e6, Limit::LossBasedIncreasing), [Some(3e6), None]);
    }

    #[test]
    fn after_a_passing_drop_it_probes_at_85_percent_of_the_old_rate() {
        let mut probing = probing(&[], f64::INFINITY);
        probing.set_estimate(at(0), 2e6, Limit::DelayBased);
        probing.set_estimate(at(1000), 1e6, Limit::DelayBased);
        assert_eq!(probing.on_recovery(at(2000)), NONE, "never application-limited");
        probing.set_alr(at(2100), Some(at(2100)));
        probing.set_alr(at(2200), None);
        assert_eq!(probing.on_recovery(at(2300)), [Some(1.7e6), None]);
        assert_eq!(probing.on_recovery(at(2400)), NONE, "once in five seconds");
    }

    #[test]
    fn periodic_probes_come_every_five_seconds_of_application_limits() {
        let mut probing = probing(&[("alr_probing", "true")], f64::INFINITY);
        probing.set_alr(at(1000), Some(at(1000)));
        assert_eq!(probing.process(at(5999)), NONE);
        assert_eq!(probing.process(at(6000)), [Some(6e5), None]);
        probing.process(at(7001));
        assert_eq!(probing.process(at(10_999)), NONE);
        assert_eq!(probing.process(at(11_000)), [Some(6e5), None]);
    }
}
