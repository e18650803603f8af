use super::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Next answer of a controller, and the number of its calls.
#[derive(Default)]
struct Script {
    answer: Mutex<Answer>,
    heard: AtomicUsize,
    ended: AtomicUsize,
}

struct Scripted(Arc<Script>);

impl Foreign for Scripted {
    fn hears(&self, callback: Callback) -> bool {
        matches!(callback, Callback::OnAck | Callback::OnTimeout)
    }

    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        self.0.heard.fetch_add(1, Ordering::Relaxed);
        if matches!(event, Event::Timeout(_)) { Err(Fault::Foreign("raised Oops".into())) } else { Ok(()) }
    }

    fn control(&self, answer: &mut Answer) -> Result<(), Fault> {
        *answer = *self.0.answer.lock().unwrap();
        Ok(())
    }

    fn fields(&self, _sink: &mut dyn FieldSink) -> Result<(), Fault> {
        Err(Fault::Foreign("returned a field `x`".into()))
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

const WINDOW: Answer = Answer {
    window_bytes: 20_000.0,
    pacing_bps: f64::INFINITY,
    burst_bytes: 0,
    wake_at_ns: u64::MAX,
    media_bps: f64::INFINITY,
    filler_bytes: -1,
    max_frame_wait_ns: u64::MAX,
    app_limited: false,
};

fn start() -> Start {
    Start { now: Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 }
}

/// Creates a controller that answers [`WINDOW`] at first.
fn controller() -> (Guarded<Scripted>, Arc<Script>, Arc<Watch>) {
    let (script, watch) = (Arc::new(Script::default()), Arc::new(Watch::default()));
    *script.answer.lock().unwrap() = WINDOW;
    let create = || Ok(Scripted(Arc::clone(&script)));
    let guarded = Guarded::new("scheme mine (libmine.so: mine)".to_owned(), &watch, &start(), create);
    (guarded, script, watch)
}

fn ack(now: Time) -> Ack<'static> {
    Ack {
        now,
        packets: &[],
        acked_bytes: 0,
        growth_bytes: 0,
        lost_bytes: 0,
        rtt: None,
        srtt: Span::ZERO,
        rttvar: Span::ZERO,
        min_rtt: Span::ZERO,
        ack_delay: Span::ZERO,
        in_flight_before_bytes: 0,
        in_flight_bytes: 0,
        peak_in_flight_bytes: 0,
        window_limited: true,
        pacing_limited: false,
        app_limited: false,
        delivered_bytes: 0,
        rate: None,
        round_start: false,
        in_recovery: false,
        next_number: 0,
        queued_bytes: 0,
        queue_delay: Span::ZERO,
        feedback: &[],
        complete_bytes: 0,
        sent_bytes: 0,
    }
}

/// Returns the message on a controller that answers `answer` to an ACK at 2 s.
fn said(answer: Answer) -> Option<String> {
    let (mut guarded, script, watch) = controller();
    *script.answer.lock().unwrap() = answer;
    guarded.on_ack(&ack(Time::from_secs_f64(2.0)));
    watch.failure().map(str::to_owned)
}

#[test]
fn what_is_allowed_reaches_the_transport() {
    let (mut guarded, script, watch) = controller();
    assert_eq!(guarded.control(), Control::window(20_000));
    *script.answer.lock().unwrap() = Answer {
        window_bytes: f64::INFINITY,
        pacing_bps: 1e6,
        burst_bytes: 3,
        wake_at_ns: 3_000_000_000,
        media_bps: 5e5,
        filler_bytes: 0,
        max_frame_wait_ns: 40_000_000,
        app_limited: true,
    };
    guarded.on_ack(&ack(Time::from_secs_f64(2.0)));
    let control = Control {
        window_bytes: u64::MAX,
        pacing: Some(Rate::from_bps(1_000_000)),
        burst_bytes: 3,
        wake_at: Time::from_secs_f64(3.0),
        media_rate: Some(Rate::from_bps(500_000)),
        filler_bytes: Some(0),
        max_frame_wait: Some(Span::from_ms(40)),
        app_limited: true,
    };
    assert_eq!((guarded.control(), watch.failure()), (control, None));
}

#[test]
fn what_cannot_be_is_named_with_the_plug_in_the_event_and_what_is_allowed() {
    let window = |window_bytes| said(Answer { window_bytes, ..WINDOW }).unwrap();
    assert_eq!(
        window(0.0),
        "scheme mine (libmine.so: mine): on_ack was followed by a control that allows a window of 0 bytes: allowed is 1 \
         to 2^32, or infinity with pacing (at 2.000000 s)"
    );
    for wrong in [f64::NAN, -5.0, 0.5, 5e9, f64::NEG_INFINITY] {
        assert!(window(wrong).contains(&format!("a window of {wrong} bytes")), "{}", window(wrong));
    }
    assert!(window(f64::INFINITY).contains("an infinite window without pacing"));
    for wrong in [0.0, f64::NAN, -1.0, 1e13] {
        let said = said(Answer { pacing_bps: wrong, ..WINDOW }).unwrap();
        assert!(said.contains(&format!("a pacing rate of {wrong} bit/s")), "{said}");
    }
    let said_of = |answer| said(answer).unwrap();
    assert!(said_of(Answer { media_bps: 0.0, ..WINDOW }).contains("a media rate of 0 bit/s"));
    assert!(said_of(Answer { filler_bytes: 1449, ..WINDOW }).contains("allowed is 0 to 1448"));
    assert!(said_of(Answer { filler_bytes: -2, ..WINDOW }).contains("fillers of -2 bytes"));
}

#[test]
fn timers_have_to_be_ahead_unless_they_were_asked_for_before() {
    let wake = |wake_at_ns| said(Answer { wake_at_ns, ..WINDOW });
    assert!(wake(1_999_999_999).unwrap().contains("to be woken at 2.000000 s: allowed is 1 us from now"));
    assert!(wake(2_000_000_999).is_some(), "the clock of a simulation would stop");
    assert_eq!(wake(2_000_001_000), None);

    let (mut guarded, script, watch) = controller();
    script.answer.lock().unwrap().wake_at_ns = 3_000_000_000;
    guarded.on_ack(&ack(Time::from_secs_f64(2.0)));
    guarded.on_ack(&ack(Time::from_secs_f64(3.5)));
    assert_eq!(watch.failure(), None, "it is overdue, and its time has been known since 2 s");
    guarded.on_wake(Time::from_secs_f64(3.6));
    assert_eq!(guarded.control().wake_at, Time::NEVER, "it has come, although nobody hears of it");
    guarded.on_ack(&ack(Time::from_secs_f64(3.7)));
    assert!(watch.failure().unwrap().contains("woken at 3.000000 s"), "it would come again and again");
}

#[test]
fn a_controller_that_fails_is_not_asked_again_and_keeps_its_last_window() {
    let (mut guarded, script, watch) = controller();
    let timeout = Timeout {
        now: Time::from_secs_f64(1.5),
        kind: congestion::TimeoutKind::Rto,
        repeated: false,
        in_flight_before_bytes: 0,
        next_number: 0,
    };
    guarded.on_timeout(&timeout);
    let first = "scheme mine (libmine.so: mine): on_timeout raised Oops (at 1.500000 s)";
    assert_eq!(watch.failure(), Some(first));
    assert_eq!(script.ended.load(Ordering::Relaxed), 1);
    guarded.on_ack(&ack(Time::from_secs_f64(2.0)));
    assert_eq!((script.heard.load(Ordering::Relaxed), guarded.control()), (1, Control::window(20_000)));
    assert_eq!(watch.failure(), Some(first), "the first failure is the one that is told");
}

#[test]
fn events_that_it_does_not_hear_cost_it_nothing() {
    let (mut guarded, script, _) = controller();
    guarded.on_established(Time::ZERO, Span::from_ms(1));
    guarded.on_spurious_loss(Time::ZERO);
    assert_eq!(script.heard.load(Ordering::Relaxed), 0);
}

#[test]
fn fields_and_creation_may_fail_too() {
    struct Nothing;
    impl FieldSink for Nothing {
        fn put(&mut self, _name: &'static str, _unit: &'static str, _value: f64) {}
    }
    let (guarded, _, watch) = controller();
    guarded.fields(&mut Nothing);
    assert!(watch.failure().unwrap().ends_with("fields returned a field `x`"));

    let watch = Arc::new(Watch::default());
    let create = || Err::<Scripted, _>(Fault::RefusedToStart("no table".to_owned()));
    let guarded = Guarded::new("scheme mine".to_owned(), &watch, &start(), create);
    assert_eq!(guarded.control().window_bytes, 14_480);
    assert_eq!(watch.failure(), Some("scheme mine: create refused to start: no table (at 0.000000 s)"));
}
