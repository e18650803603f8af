//! Tests that Pantheon's numbers follow from Pantheon's logs, equal as doubles.
#![allow(clippy::disallowed_methods, reason = "reads logs")]

use measure::{MeterConfig, RunMeter, RunStats, SeriesMeter};
use record::{Event, Record};
use std::path::PathBuf;
use std::process::ExitCode;
use units::Span;

const SCHEMES: [&str; 3] = ["bbr", "cubic", "vegas"];

/// Returns the reason why there are no logs of a Pantheon run, if there are none.
fn missing() -> Option<String> {
    needs::folder("PANTHEON_LOGS").err()
}

/// Returns the folder of the logs.
fn logs() -> PathBuf {
    needs::folder("PANTHEON_LOGS").expect("asked before")
}

/// Converts a text like `123.456`, ms, to ns.
fn ms_to_ns(text: &str) -> i64 {
    let (whole, decimals) = text.split_once('.').expect("milliseconds with decimals");
    assert_eq!(decimals.len(), 3, "{text}");
    let us = format!("{whole}{decimals}").parse::<i64>().expect("a number");
    us * 1_000
}

/// Returns the records of a merged log (`packetlog::pantheon`).
fn read(folder: &std::path::Path, name: &str) -> Vec<Record> {
    let text = std::fs::read_to_string(folder.join(name)).expect("a log");
    let line = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let number = |i: usize| fields[i].parse::<u32>().expect("a number");
        let (event, flow, delay) = match fields[1] {
            "#" => (Event::Opportunity, 0, 0),
            "+" => (Event::Send, number(3), 0),
            "-" => (Event::Deliver, number(4), ms_to_ns(fields[3])),
            other => panic!("unknown event {other}"),
        };
        Record {
            time_ns: ms_to_ns(fields[0]) as u64,
            flow,
            event,
            seq: 0,
            size_bytes: number(2),
            data_bytes: 0,
            one_way_delay_ns: delay,
        }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

fn measure(records: &[Record]) -> RunStats {
    let duration = Span::from_secs(60);
    let mut meter = RunMeter::new(MeterConfig { duration, ..MeterConfig::default() });
    for record in records {
        meter.record(record);
    }
    meter.finish(&[], &[])
}

fn throughput_delay_and_loss_of_real_logs_equal_pantheons_to_the_last_bit() {
    let folder = logs();
    let text = std::fs::read_to_string(folder.join("pantheon_perf.json")).expect("the published numbers");
    // serde_json's numbers can be off by the last bit, so they are cut out and parsed exactly.
    let published = |scheme: &str, entity: &str, key: &str| {
        [scheme, "1", entity, key]
            .iter()
            .fold(text.as_str(), |text, key| text.split_once(&format!("\"{key}\": ")).expect("the key").1)
            .split([',', '}'])
            .next()
            .and_then(|number| number.parse::<f64>().ok())
    };
    for scheme in SCHEMES {
        let stats = measure(&read(&folder, &format!("{scheme}_datalink_run1.log")));
        let flow = &stats.flows[0];
        let network = &stats.network;
        let measured = [
            ("1", flow.throughput_mbps, flow.delay_p95_ms, flow.loss_rate),
            ("all", network.throughput_mbps, network.delay_p95_ms, network.loss_rate),
        ];
        for (entity, throughput, delay, loss) in measured {
            let expected = |key: &str| published(scheme, entity, key);
            assert_eq!(throughput, expected("tput"), "{scheme} {entity}");
            assert_eq!(delay, expected("delay"), "{scheme} {entity}");
            assert_eq!(loss, expected("loss"), "{scheme} {entity}");
        }
        assert!(network.valid, "{scheme}: {:?}", network.invalid_reason);
    }
}

fn capacity_and_utilization_equal_the_statistics_files() {
    let folder = logs();
    for scheme in SCHEMES {
        let network = measure(&read(&folder, &format!("{scheme}_datalink_run1.log"))).network;
        let printed = format!(
            "Average capacity: {:.2} Mbit/s\nAverage throughput: {:.2} Mbit/s ({:.1}% utilization)\n\
             95th percentile per-packet one-way delay: {:.3} ms\nLoss rate: {:.2}%\n",
            network.capacity_mbps.expect("opportunities"),
            network.throughput_mbps.expect("arrivals"),
            100.0 * network.capacity_utilization.expect("opportunities"),
            network.delay_p95_ms.expect("deliveries"),
            100.0 * network.loss_rate.expect("sendings"),
        );
        let file =
            std::fs::read_to_string(folder.join(format!("{scheme}_stats_run1.log"))).expect("statistics");
        assert!(file.contains(&printed), "{printed}\n{file}");
    }
}

fn corrected_loss_leaves_out_what_a_bloated_queue_still_holds() {
    let folder = logs();
    for scheme in SCHEMES {
        let flow = measure(&read(&folder, &format!("{scheme}_datalink_run1.log"))).flows.remove(0);
        assert!(flow.packet_loss_rate < flow.loss_rate, "{scheme}");
        let require = |count: Option<u64>| count.expect("the log tells");
        let missing = require(flow.packets_sent) - require(flow.packets_delivered);
        assert!((1..=missing).contains(&require(flow.packets_in_flight_at_end)), "{scheme}");
        assert_eq!((flow.goodput_mbps, flow.packets_dropped), (None, None), "the log does not tell");
    }
}

fn series_of_a_real_log_add_up_to_its_bytes() {
    let folder = logs();
    let records = read(&folder, "cubic_datalink_run1.log");
    let mut meter = SeriesMeter::new(Span::from_ms(500));
    for record in &records {
        meter.record(record);
    }
    let series = meter.finish();
    let bytes =
        |event| records.iter().filter(|r| r.event == event).map(|r| f64::from(r.size_bytes)).sum::<f64>();
    // Mbit/s over 500 ms: 62,500 bytes per Mbit/s.
    let sum = |rates: &[f64]| rates.iter().sum::<f64>() * 62_500.0;
    assert!((sum(&series.flows[0].ingress_mbps) - bytes(Event::Send)).abs() < 1e-3);
    assert!((sum(&series.flows[0].egress_mbps) - bytes(Event::Deliver)).abs() < 1e-3);
    assert!((sum(&series.capacity_mbps) - bytes(Event::Opportunity)).abs() < 1e-3);
}

fn main() -> ExitCode {
    let tests = needs::tests![
        throughput_delay_and_loss_of_real_logs_equal_pantheons_to_the_last_bit,
        capacity_and_utilization_equal_the_statistics_files,
        corrected_loss_leaves_out_what_a_bloated_queue_still_holds,
        series_of_a_real_log_add_up_to_its_bytes,
    ];
    needs::run(vec![(missing, tests)])
}
