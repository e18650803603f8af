//! Tests that definitions and the JSON of statistics agree, including nested objects.

use measure::{
    Better, Convention, FlowFacts, FlowInfo, Level, LinkCounters, MediaCounters, MeterConfig, OneWay,
    RunMeter, SenderCounters, labels, metrics,
};
use record::{Event, Record};
use serde_json::Value;
use std::collections::BTreeSet;

fn keys(object: &Value) -> BTreeSet<String> {
    let fields = object.as_object().expect("an object").iter();
    fields
        .flat_map(|(key, value)| match value.get(0).unwrap_or(value).as_object() {
            Some(inner) => inner.keys().map(|name| format!("{key}.{name}")).collect(),
            None => vec![key.clone()],
        })
        .collect()
}

fn metric_names(level: Level) -> BTreeSet<String> {
    let metrics = metrics().filter(|metric| metric.level == level).map(|metric| metric.name);
    let labels = labels().filter(|label| label.level == level).map(|label| label.name);
    metrics.chain(labels).map(str::to_owned).collect()
}

#[test]
fn keys_and_definitions_agree_both_ways() {
    // A finite transfer makes the list of completions.
    let facts = FlowFacts { total_bytes: Some(1), ..FlowFacts::default() };
    let flow = FlowInfo { flow: 1, facts, ..FlowInfo::default() };
    let mut meter = RunMeter::new(MeterConfig { flows: vec![flow], ..MeterConfig::default() });
    // With ACK records and an encoder the optional objects are there.
    for event in [Event::Send, Event::Deliver, Event::AckSend, Event::AckDeliver] {
        let record =
            Record { time_ns: 0, flow: 1, event, seq: 0, size_bytes: 1, data_bytes: 1, one_way_delay_ns: 1 };
        meter.record(&record);
    }
    let sender =
        SenderCounters { flow: 1, media: Some(MediaCounters::default()), ..SenderCounters::default() };
    let stats = serde_json::to_value(meter.finish(&[LinkCounters::default()], &[sender])).expect("JSON");
    assert_eq!(keys(&stats["flows"][0]), metric_names(Level::Flow));
    assert_eq!(keys(&stats["links"][0]), metric_names(Level::Link));
    assert_eq!(keys(&stats["network"]), metric_names(Level::Network));
    let top: Vec<_> = stats.as_object().expect("an object").keys().collect();
    assert_eq!(top, ["flows", "links", "network"]);
}

#[test]
fn definitions_are_complete_and_unique() {
    let mut names = BTreeSet::new();
    for metric in metrics() {
        assert!(names.insert((metric.level, metric.name)), "{} twice", metric.name);
        assert!(!metric.formula.is_empty() && !metric.source.is_empty(), "{}", metric.name);
        for (suffix, unit) in [("_mbps", "Mbit/s"), ("_ms", "ms"), ("_s", "s"), ("_bytes", "bytes")] {
            // `_ms` ends in `s` too: only the whole suffix counts.
            if metric.name.ends_with(suffix) {
                assert_eq!(metric.unit, unit, "{}", metric.name);
            }
        }
    }
    for label in labels() {
        assert!(names.insert((label.level, label.name)), "{} twice", label.name);
    }
}

#[test]
fn a_definition_says_its_rules_level_and_direction_in_json() {
    let metric = metrics().find(|metric| metric.name == "goodput_mbps").expect("goodput");
    assert_eq!((metric.convention, metric.level), (Convention::Corrected, Level::Flow));
    let json = serde_json::to_value(metric).expect("JSON");
    assert_eq!((&json["convention"], &json["level"]), (&"corrected".into(), &"flow".into()));
    assert_eq!((metric.better, &json["better"]), (Better::More, &"more".into()));
}

#[test]
fn what_is_of_two_clocks_is_known() {
    // Every metric whose name says so; metrics of sending and receiving by one clock are not.
    for metric in metrics() {
        let expected = match metric.name {
            name if name.starts_with("self_inflicted") || name == "queueing_delay_mean_ms" => {
                Some(OneWay::Difference)
            }
            "acklink.delay_p95_ms" => Some(OneWay::Return),
            name if name == "delay_p95_ms" || name.contains("owd_") => Some(OneWay::Data),
            name if name.starts_with("media.frame_delay") || name.contains("one_way") => Some(OneWay::Data),
            _ => None,
        };
        assert_eq!(metric.one_way, expected, "{}", metric.name);
        assert!(metric.one_way.is_none() || metric.unit == "ms", "{}", metric.name);
    }
}
