//! All controllers by name. A new controller is one file and one line here.

use crate::{Controller, Parameter, Parameters, ReceiverHalf, Start};

/// Builds the receiver-side half of a scheme.
pub type BuildReceiver = fn(&Parameters, &Start) -> Box<dyn ReceiverHalf>;

/// A registered controller.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name in experiment files and on the command line.
    pub name: &'static str,
    /// One sentence: what it is and its source.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Builds the receiver-side half of schemes that have one: it sees every packet arrive and writes feedback into
    /// ACKs.
    pub receiver: Option<BuildReceiver>,
    /// Builds one instance per flow.
    pub build: fn(&Parameters, &Start) -> Box<dyn Controller>,
}

/// Every controller, in alphabetical order.
pub const REGISTRY: &[Entry] = &[
    crate::bbr::ENTRY,
    crate::bbr3::ENTRY,
    crate::copa::ENTRY,
    crate::copa_gcc2017::ENTRY,
    crate::copa_gcc2018::ENTRY,
    crate::cubic::ENTRY,
    crate::dctcp::ENTRY,
    crate::fillp::ENTRY,
    crate::fillp2::ENTRY,
    crate::gcc::ENTRY,
    crate::gquic_cubic::ENTRY,
    crate::koho::ENTRY,
    crate::ledbat::ENTRY,
    crate::ledbat_plus_plus::ENTRY,
    crate::libutp_ledbat::ENTRY,
    crate::nada::ENTRY,
    crate::pcc::ENTRY,
    crate::pcc_experimental::ENTRY,
    crate::prague::ENTRY,
    crate::proteus::ENTRY,
    crate::reno::ENTRY,
    crate::scream::ENTRY,
    crate::scream_v1::ENTRY,
    crate::sourdough::ENTRY,
    crate::sprout::ENTRY,
    crate::unresponsive::ENTRY,
    crate::vegas::ENTRY,
    crate::verus::ENTRY,
    crate::vivace::ENTRY,
];

/// The controller called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_sorted() {
        assert!(REGISTRY.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn every_default_is_within_its_own_range_and_every_controller_builds() {
        let start = Start { now: units::Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 };
        for entry in REGISTRY {
            let parameters = Parameters::defaults(entry.parameters);
            for (parameter, value) in parameters.iter() {
                let text = match value {
                    crate::Value::Number(value) => value.to_string(),
                    crate::Value::Integer(value) => value.to_string(),
                    crate::Value::Flag(value) => value.to_string(),
                    crate::Value::Choice(value) => value.to_owned(),
                };
                assert_eq!(parameter.parse(&text), Ok(value), "{}.{}", entry.name, parameter.name);
            }
            let control = (entry.build)(&parameters, &start).control();
            assert!(control.window_bytes > 0, "{} starts with an empty window", entry.name);
        }
    }
}
