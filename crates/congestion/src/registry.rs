//! Controllers by name: built-in and added ones. `build.rs` lists the built-in ones from their files.

use crate::policy::Policy;
use crate::{Controller, Parameter, Parameters, ReceiverHalf, Start, learned, schemes};
use core::fmt::{self, Debug, Formatter};
use std::collections::BTreeMap;
use std::sync::Arc;
use strict_input::Refusal;

/// Function that builds the receiver-side half of a scheme. An error is one line about a file that a parameter names.
pub type BuildReceiver = fn(&Parameters, &Start) -> Result<Box<dyn ReceiverHalf>, Refusal>;

/// Function that builds a controller.
pub type BuildFunction = fn(&Parameters, &Start) -> Box<dyn Controller>;

/// Function that builds a controller. An error is one line about a file that a parameter names.
pub type BuildFallible = fn(&Parameters, &Start) -> Result<Box<dyn Controller>, Refusal>;

/// Function that builds the policy of a learned controller.
pub type BuildPolicy = fn(&Parameters, &Start) -> Box<dyn Policy>;

/// Closure that builds a controller from resources loaded before.
pub type BuildClosure = dyn Fn(&Parameters, &Start) -> Box<dyn Controller> + Send + Sync;

/// Kinds of builders.
#[derive(Clone)]
pub enum Build {
    /// Builder that needs only the parameters: for controllers written here or in another crate.
    Function(BuildFunction),
    /// Builder that needs only the parameters, one of which is a file whose contents may be wrong.
    Fallible(BuildFallible),
    /// Builder with a resource that was loaded before: a library, a class.
    Closure(Arc<BuildClosure>),
}

/// Controller in the registry.
#[derive(Clone)]
pub struct Entry {
    /// Name in experiment files and on the command line.
    pub name: &'static str,
    /// One sentence with the controller's principle and its source.
    pub summary: &'static str,
    /// Parameters of the controller.
    pub parameters: &'static [Parameter],
    /// Builder of the receiver-side half, for schemes that have one. The half sees every packet arrive and writes
    /// feedback into ACKs.
    pub receiver: Option<BuildReceiver>,
    /// Entry of the agent, for learned controllers: the controller without its network, called `agent-` and its name.
    /// The agent's decisions come from outside.
    pub agent: Option<fn() -> Entry>,
    /// Builder of the policy, for learned controllers whose network a trainer replaces.
    pub policy: Option<BuildPolicy>,
    /// Builder of one instance per flow.
    pub build: Build,
}

impl Entry {
    /// Returns the entry of a controller without receiver-side half and without network.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        parameters: &'static [Parameter],
        build: BuildFunction,
    ) -> Self {
        let build = Build::Function(build);
        Self { name, summary, parameters, receiver: None, agent: None, policy: None, build }
    }

    /// Returns the entry of a controller that a closure builds from resources loaded before.
    pub fn with_closure(
        name: &'static str,
        summary: &'static str,
        parameters: &'static [Parameter],
        build: Arc<BuildClosure>,
    ) -> Self {
        let build = Build::Closure(build);
        Self { name, summary, parameters, receiver: None, agent: None, policy: None, build }
    }

    /// Builds a controller for one flow.
    ///
    /// # Errors
    /// One line about a file that a parameter names.
    pub fn build(&self, parameters: &Parameters, start: &Start) -> Result<Box<dyn Controller>, Refusal> {
        match &self.build {
            Build::Function(build) => Ok(build(parameters, start)),
            Build::Fallible(build) => build(parameters, start),
            Build::Closure(build) => Ok(build(parameters, start)),
        }
    }

    /// Builds the receiver-side half for the same flow; `None` if the scheme has none.
    ///
    /// # Errors
    /// The errors of [`build`](Self::build).
    pub fn build_receiver(
        &self,
        parameters: &Parameters,
        start: &Start,
    ) -> Result<Option<Box<dyn ReceiverHalf>>, Refusal> {
        self.receiver.map(|build| build(parameters, start)).transpose()
    }

    /// Checks that both halves can be built with `parameters`.
    ///
    /// # Errors
    /// The errors of [`build`](Self::build).
    pub fn check(&self, parameters: &Parameters, start: &Start) -> Result<(), Refusal> {
        if let Build::Fallible(build) = &self.build {
            build(parameters, start)?;
            self.build_receiver(parameters, start)?;
        }
        Ok(())
    }
}

impl Debug for Entry {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Controllers that a run may name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: BTreeMap<&'static str, Entry>,
}

impl Registry {
    /// Returns the registry of this crate's controllers.
    pub fn builtin() -> Self {
        Self { entries: builtin().map(|entry| (entry.name, entry.clone())).collect() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// One line if the name is taken.
    pub fn add(&mut self, entry: Entry) -> Result<(), Refusal> {
        let name = entry.name;
        if self.entries.contains_key(name) {
            return Err(Refusal::new(format!("there is a controller `{name}` already: choose another name")));
        }
        self.entries.insert(name, entry);
        Ok(())
    }

    /// Returns the controller called `name`.
    ///
    /// # Errors
    /// One line with the existing names.
    pub fn find(&self, name: &str) -> Result<&Entry, Refusal> {
        self.entries.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.entries.keys().copied().collect();
            Refusal::new(format!("unknown controller `{name}`: allowed are {}", known.join(", ")))
        })
    }

    /// Returns all entries, in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.values()
    }
}

impl Registry {
    /// Returns the registry of this crate's controllers and agents.
    pub fn with_agents() -> Self {
        let mut registry = Self::builtin();
        for agent in builtin().filter_map(|entry| entry.agent) {
            // No controller's name begins with `agent-`, so no name is taken.
            let _ = registry.add(agent());
        }
        registry
    }
}

/// Returns the policy of the learned scheme called `name`, with default parameters; `None` for other controllers. A
/// trainer replaces the scheme's network.
pub fn policy(name: &str, start: &Start) -> Option<Box<dyn Policy>> {
    let entry = builtin().find(|entry| entry.name == name)?;
    entry.policy.map(|build| build(&Parameters::defaults(entry.parameters), start))
}

fn builtin() -> impl Iterator<Item = &'static Entry> {
    schemes::ENTRIES.iter().chain(learned::ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn entries_come_in_the_order_of_their_names_and_none_is_hidden_by_another() {
        let registry = Registry::builtin();
        assert_eq!(registry.iter().len(), builtin().count());
        let names: Vec<&str> = registry.iter().map(|entry| entry.name).collect();
        assert!(names.is_sorted());
    }

    #[test]
    fn what_is_added_is_found_and_a_name_is_taken_once() {
        let mut registry = Registry::builtin();
        let build = Build::Closure(Arc::new(|_, start| registry_test_controller(start)));
        let entry = Entry { name: "mine", build, ..schemes::sourdough::ENTRY };
        assert!(
            registry
                .find("mine")
                .unwrap_err()
                .to_string()
                .starts_with("unknown controller `mine`: allowed are astraea, aurora, bbr,")
        );
        registry.add(entry.clone()).unwrap();
        let start = Start { now: units::Time::ZERO, mss_bytes: 1000, initial_window_bytes: 7000, seed: 1 };
        let controller = registry.find("mine").unwrap().build(&Parameters::defaults(&[]), &start).unwrap();
        assert_eq!(controller.control().window_bytes, 7000);
        assert!(registry.add(entry).unwrap_err().to_string().contains("a controller `mine` already"));
    }

    fn registry_test_controller(start: &Start) -> Box<dyn Controller> {
        #[derive(Debug)]
        struct Fixed(u64);
        impl Controller for Fixed {
            fn on_ack(&mut self, _event: &crate::Ack<'_>) {}
            fn control(&self) -> crate::Control {
                crate::Control::window(self.0)
            }
            fn fields(&self, _sink: &mut dyn crate::FieldSink) {}
        }
        Box::new(Fixed(start.initial_window_bytes))
    }

    #[test]
    fn every_default_is_within_its_own_range_and_every_controller_builds() {
        let start = Start { now: units::Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 };
        for entry in Registry::builtin().iter() {
            let parameters = Parameters::defaults(entry.parameters);
            for (parameter, value) in parameters.iter() {
                let text = match value {
                    Value::Number(value) => value.to_string(),
                    Value::Integer(value) => value.to_string(),
                    Value::Flag(value) => value.to_string(),
                    Value::Choice(value) => (*value).to_owned(),
                    Value::File(_) => continue,
                };
                assert_eq!(parameter.parse(&text).as_ref(), Ok(value), "{}.{}", entry.name, parameter.name);
            }
            match entry.build(&parameters, &start) {
                Ok(built) => {
                    let window = built.control().window_bytes;
                    assert!(window > 0, "{} starts with an empty window", entry.name);
                }
                // A controller that needs a file names the missing parameter.
                Err(refusal) => {
                    let why = refusal.to_string();
                    let needed = entry.parameters.iter().find(|parameter| parameter.is_needed);
                    let file = needed.unwrap_or_else(|| panic!("{}: {why}", entry.name));
                    assert!(why.starts_with(&format!("`{}`: ", file.name)), "{}: {why}", entry.name);
                }
            }
        }
    }
}
