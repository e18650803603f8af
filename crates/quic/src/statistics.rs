//! Lines of statistics on standard output.

use std::io::{Error, Write};
use std::time::Duration;

use quiche::{Connection, PathStats};

/// Prints one line of JSON about the connection's path. Times in `t_s` count from the start of the program.
pub(crate) fn print_path(elapsed: Duration, connection: &Connection) -> Result<(), Error> {
    let Some(path) = connection.path_stats().next() else {
        return Ok(());
    };
    print_line(&path_line(elapsed, &path))
}

/// Prints a line at once, whatever standard output is.
pub(crate) fn print_line(line: &str) -> Result<(), Error> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

fn path_line(elapsed: Duration, path: &PathStats) -> String {
    let milliseconds = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
    format!(
        "{{\"t_s\": {:.3}, \"cwnd_bytes\": {}, \"rtt_ms\": {}, \"min_rtt_ms\": {}, \"rttvar_ms\": {}, \
         \"delivery_rate_mbps\": {:.3}, \"sent\": {}, \"lost\": {}, \"retransmitted\": {}, \"timeouts\": {}, \"sent_bytes\": {}}}",
        elapsed.as_secs_f64(),
        path.cwnd,
        milliseconds(path.rtt),
        path.min_rtt.map_or("null".to_owned(), milliseconds),
        milliseconds(path.rttvar),
        path.delivery_rate as f64 * 8.0 / 1e6,
        path.sent,
        path.lost,
        path.retrans,
        path.total_pto_count,
        path.sent_bytes,
    )
}
