//! Response of a flow to the last change of the path.

use units::Span;

/// Part of its fair share that a flow must reach if the share did not shrink.
const REACHED: f64 = 0.9;
/// Multiple of its fair share that a flow must come down to if the share shrank.
const COME_DOWN: f64 = 1.1;
/// Distance from the fair share, as a fraction of the share, within which a flow is settled.
const SETTLED: f64 = 0.2;

/// Rates of one flow over one sample interval, on the path, Mbit/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) sent: f64,
    pub(crate) delivered: f64,
    /// Capacity of the bottleneck / number of active flows.
    pub(crate) fair: f64,
}

/// Response times of one flow since the change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Response {
    /// Time until the flow had reached its new share.
    pub(crate) to_90: Option<Span>,
    /// Time until the flow came near its share and stayed there.
    pub(crate) settling: Option<Span>,
}

impl Response {
    /// Observes a sample interval that ends `since` after the change. `is_drop`: true if the change reduced the
    /// capacity.
    pub(crate) fn observe(&mut self, since: Span, rates: Rates, is_drop: bool) {
        let Rates { sent, delivered, fair } = rates;
        let reached = if is_drop { sent <= COME_DOWN * fair } else { delivered >= REACHED * fair };
        if reached && self.to_90.is_none() {
            self.to_90 = Some(since);
        }
        if (delivered - fair).abs() > SETTLED * fair {
            self.settling = None;
        } else if self.settling.is_none() {
            self.settling = Some(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns times in ms after a change to 10 Mbit/s, from rates (sent, delivered) per 100 ms.
    fn response(is_drop: bool, rates: &[(f64, f64)]) -> (Option<f64>, Option<f64>) {
        let mut response = Response::default();
        for (index, &(sent, delivered)) in rates.iter().enumerate() {
            let rates = Rates { sent, delivered, fair: 10.0 };
            response.observe(Span::from_ms(100 * (index as u64 + 1)), rates, is_drop);
        }
        (response.to_90.map(Span::as_ms_f64), response.settling.map(Span::as_ms_f64))
    }

    #[test]
    fn more_capacity_is_reached_when_it_is_delivered() {
        let rates = [(5.0, 5.0), (9.5, 7.9), (9.5, 9.0), (9.5, 7.0), (9.5, 8.0)];
        assert_eq!(response(false, &rates), (Some(300.0), Some(500.0)));
        assert_eq!(response(false, &rates[..2]), (None, None));
    }

    #[test]
    fn less_capacity_is_reached_when_no_more_than_that_is_sent() {
        // The bottleneck delivers 10 Mbit/s at once; the sender takes longer.
        let rates = [(20.0, 10.0), (11.1, 10.0), (11.0, 10.0), (5.0, 8.5)];
        assert_eq!(response(true, &rates), (Some(300.0), Some(100.0)));
    }
}
