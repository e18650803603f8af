//! Trainings: results do not depend on threads or interruptions, and are better than the start.

mod imitation;

use congestion::remy::{Table, Written};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use train::remy::{Network, Trial};
use train::{Error, Job, News, StopSignal, Watch, train};

/// Watch that never stops a training and stores its results.
#[derive(Default)]
struct Patient {
    results: RefCell<Vec<Vec<u8>>>,
}

impl Watch for Patient {
    fn tell(&self, news: &News<'_>) -> Result<(), Error> {
        self.results.borrow_mut().extend(news.result.map(<[u8]>::to_vec));
        Ok(())
    }

    fn look(&self) -> Result<(), Error> {
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        0.0
    }
}

fn settings(epochs: u64) -> String {
    format!(
        r#"{{"link_mbps": [10, 40], "rtt_ms": [50, 100], "senders": [1, 2], "on_ms": 500, "off_ms": 500, "delta": 1,
             "networks": 2, "packets": 1500, "seconds": 1, "rules": 20, "epochs": {epochs}}}"#
    )
}

fn train_remy(settings: &str, jobs: usize, start: Option<&[u8]>) -> Result<Vec<u8>, Error> {
    let watch = Patient::default();
    let job = Job { settings, seed: 3, jobs, seconds: f64::INFINITY, start, watch: &watch };
    let file = train("remy", &job)?;
    assert_eq!(watch.results.borrow().last(), Some(&file), "what comes out was kept last");
    Ok(file)
}

#[test]
fn what_is_learned_depends_neither_on_threads_nor_on_an_interruption() {
    let file = train_remy(&settings(2), 1, None).unwrap();
    assert_eq!(train_remy(&settings(2), 3, None).unwrap(), file);
    let first = train_remy(&settings(1), 2, None).unwrap();
    assert_ne!(first, file);
    assert_eq!(train_remy(&settings(2), 2, Some(&first)).unwrap(), file);
    let Written { table, training } = Written::read(&file).unwrap();
    assert!(table.rules().len() > 10);
    assert_eq!((&training["seed"], &training["epoch"]), (&3.into(), &2.into()));
    assert!(training["objective"].as_f64().unwrap() > worth(&one_rule()));
    assert!(worth(&Arc::new(table)) > worth(&one_rule()) + 0.5);
}

/// Returns the start of a training.
fn one_rule() -> Arc<Table> {
    let text = r#"{"format": "dumbbell remy 1", "rules": [{"from": [0, 0, 0, 0], "to": [163840, 163840, 163840, 163840],
                   "window_increment": 1, "window_multiple": 1, "intersend_ms": 3}]}"#;
    Arc::new(Table::read(text.as_bytes()).expect("a table"))
}

/// Returns the utility of a table on a link that no training has used.
fn worth(table: &Arc<Table>) -> f64 {
    let network = Network { link_mbps: 25.0, rtt_ms: 70.0, senders: 2, on_ms: 500.0, off_ms: 500.0 };
    network.judge(table, &Trial::patient(99, 20_000.0), StopSignal::never()).expect("a network").utility
}

#[test]
fn a_network_judges_a_table_as_ever() {
    let network = Network { link_mbps: 15.0, rtt_ms: 60.0, senders: 3, on_ms: 400.0, off_ms: 300.0 };
    let trial = Trial { seconds: 2.0, most_queued: 3.0, ..Trial::patient(7, 4000.0) };
    let outcome = network.judge(&one_rule(), &trial, StopSignal::never()).unwrap();
    let texts = [outcome.utility, outcome.throughput, outcome.delay_ms].map(|number| number.to_string());
    assert_eq!(texts, ["-1.1530244237722604", "0.18366367869068315", "60.701975013623205"]);
}

#[test]
fn what_cannot_be_trained_is_refused_in_one_line() {
    let error_text = |settings: &str, start: Option<&[u8]>| {
        let why = train_remy(settings, 1, start).unwrap_err().to_string();
        assert!(!why.contains('\n'), "{why}");
        why
    };
    let with = |from: &str, to: &str| settings(1).replace(from, to);
    assert!(
        error_text(&with("[10, 40]", "[40, 10]"), None)
            .starts_with("link_mbps = 40 to 10: allowed is a range")
    );
    assert!(error_text(&with("\"packets\": 1500", "\"packets\": 1"), None).starts_with("packets = 1"));
    assert!(error_text(&with("delta", "dleta"), None).contains("dleta"));
    assert!(error_text(&settings(1), Some(b"{")).contains("EOF"));
    let untrained = r#"{"format": "dumbbell remy 1", "rules": []}"#;
    assert!(error_text(&settings(1), Some(untrained.as_bytes())).starts_with("0 rules"));
    let first = train_remy(&settings(1), 1, None).unwrap();
    assert!(error_text(&with("[10, 40]", "[10, 50]"), Some(&first)).contains("other networks"));
    assert!(
        train_remy(&settings(2).replace("1500", "1600"), 1, Some(&first)).is_ok(),
        "how thoroughly may change"
    );
    let watch = Patient::default();
    let job = Job { settings: "", seed: 1, jobs: 1, seconds: 1.0, start: None, watch: &watch };
    assert_eq!(
        train("rembrandt", &job).unwrap_err().to_string(),
        "unknown trainer `rembrandt`: allowed are indigo, muses, remy"
    );
}

#[test]
fn who_watches_can_end_it() {
    struct Impatient;
    impl Watch for Impatient {
        fn tell(&self, _news: &News<'_>) -> Result<(), Error> {
            Err(Error::Stopped("enough".to_owned()))
        }
        fn look(&self) -> Result<(), Error> {
            Ok(())
        }
        fn elapsed_s(&self) -> f64 {
            0.0
        }
    }
    let job = Job { settings: &settings(0), seed: 1, jobs: 2, seconds: 1e9, start: None, watch: &Impatient };
    assert_eq!(train("remy", &job).unwrap_err().to_string(), "enough");
    let over = Job { seconds: 0.0, watch: &Patient::default(), ..job };
    assert!(train("remy", &over).is_ok(), "no time: the table that it begins with");
}

/// Returns settings whose first trial or episode has more than a hundred million packets.
fn endless(kind: &str) -> String {
    match kind {
        "remy" => settings(0).replace("\"packets\": 1500", "\"packets\": 1e8"),
        _ => imitation::endless(),
    }
}

#[test]
fn who_watches_is_heard_within_one_long_trial() {
    /// Watch that requests a stop at the third call.
    #[derive(Default)]
    struct Impatient(Cell<u32>);
    impl Watch for Impatient {
        fn tell(&self, _news: &News<'_>) -> Result<(), Error> {
            Ok(())
        }
        fn look(&self) -> Result<(), Error> {
            self.0.set(self.0.get() + 1);
            if self.0.get() < 3 { Ok(()) } else { Err(Error::Stopped("enough".to_owned())) }
        }
        fn elapsed_s(&self) -> f64 {
            0.0
        }
    }
    for kind in ["remy", "indigo", "muses"] {
        let watch = Impatient::default();
        let job =
            Job { settings: &endless(kind), seed: 1, jobs: 2, seconds: 1e9, start: None, watch: &watch };
        assert_eq!(train(kind, &job).unwrap_err().to_string(), "enough");
    }
}

#[test]
fn the_end_of_the_time_is_heard_within_one_long_trial() {
    /// Clock that advances a second with each call.
    #[derive(Default)]
    struct Clock(Cell<f64>);
    impl Watch for Clock {
        fn tell(&self, _news: &News<'_>) -> Result<(), Error> {
            Ok(())
        }
        fn look(&self) -> Result<(), Error> {
            self.0.set(self.0.get() + 1.0);
            Ok(())
        }
        fn elapsed_s(&self) -> f64 {
            self.0.get()
        }
    }
    let watch = Clock::default();
    let job = Job { settings: &endless("remy"), seed: 1, jobs: 2, seconds: 3.0, start: None, watch: &watch };
    let file = Written::read(&train("remy", &job).unwrap()).unwrap();
    assert_eq!(file.table.rules(), one_rule().rules());
}

#[test]
fn a_file_with_an_epoch_that_nobody_reaches_is_refused() {
    let first = String::from_utf8(train_remy(&settings(1), 1, None).unwrap()).unwrap();
    let late = first.replace("\"epoch\":1", "\"epoch\":100000").replace("\"epoch\": 1", "\"epoch\": 100000");
    assert_ne!(late, first);
    assert_eq!(
        train_remy(&settings(0), 1, Some(late.as_bytes())).unwrap_err().to_string(),
        "training: epoch = 100000: allowed are 0 to 1000"
    );
    assert_eq!(
        train_remy(&settings(1001), 1, None).unwrap_err().to_string(),
        "epochs = 1001 to 1001: allowed is a range within 0 to 1000"
    );
}
