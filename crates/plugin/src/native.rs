//! A controller of a loaded library, asked through its functions.
#![allow(unsafe_code, reason = "calls functions of a library by the contract of `include/dumbbell.h`")]

use crate::guard::{Answer, Event, Foreign};
use crate::interface as c;
use crate::watch::Callback;
use congestion::{FieldSink, Parameters, Start, TimeoutKind, Value};
use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use std::ffi::CString;
use std::sync::Arc;
use units::Span;

/// A controller that a library declares, its texts checked and copied. The library is never unloaded.
pub(crate) struct Declared {
    /// What the functions are given as themselves: the declaration in the library.
    pub(crate) declaration: *const c::Controller,
    /// The same, as long as this version knows it.
    pub(crate) functions: c::Controller,
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [congestion::Parameter],
    pub(crate) fields: Vec<(&'static str, &'static str)>,
}

// SAFETY: all that is pointed to belongs to the library, is constant and is never unloaded.
unsafe impl Send for Declared {}
// SAFETY: as above.
unsafe impl Sync for Declared {}

/// The state of one flow, and what calls it.
pub(crate) struct Native {
    declared: Arc<Declared>,
    state: *mut c_void,
}

// SAFETY: the interface says that a state is used by one thread at a time, not that it is always the same.
unsafe impl Send for Native {}

impl Native {
    /// The state of a new flow.
    ///
    /// # Errors
    /// What the library did instead of making one.
    pub(crate) fn create(
        declared: &Arc<Declared>,
        parameters: &Parameters,
        start: &Start,
    ) -> Result<Self, String> {
        let create = declared.functions.create.ok_or("is missing")?;
        let texts: Vec<CString> = parameters.iter().map(|(_, value)| text(value)).collect();
        let values: Vec<c::Value> = parameters
            .iter()
            .zip(&texts)
            .map(|((parameter, value), text)| c_value(parameter, value, text))
            .collect();
        let start = c::Start {
            now_ns: start.now.as_ns(),
            initial_window_bytes: start.initial_window_bytes,
            seed: start.seed,
            mss_bytes: start.mss_bytes,
        };
        let mut refusal: *const c_char = ptr::null();
        // SAFETY: all pointers are valid during the call, with as many values as the library declares parameters.
        let state =
            unsafe { create(declared.declaration, &raw const start, values.as_ptr(), &raw mut refusal) };
        if state.is_null() {
            // SAFETY: the interface says that it is NULL or a text.
            let why = unsafe { lossy(refusal) };
            return Err(why.map_or("returned NULL".to_owned(), |why| format!("refused to start: {why}")));
        }
        Ok(Self { declared: Arc::clone(declared), state })
    }

    /// Calls the library with an event of a kind that it may not hear.
    #[inline]
    fn call<Event>(&self, function: Option<c::Happened<Event>>, event: &Event) {
        if let Some(function) = function {
            // SAFETY: the state is the library's, the event valid during the call.
            unsafe { function(self.state, ptr::from_ref(event)) }
        }
    }

    fn call_at(&self, function: Option<c::HappenedAt>, now: units::Time) {
        if let Some(function) = function {
            // SAFETY: the state is the library's.
            unsafe { function(self.state, now.as_ns()) }
        }
    }
}

/// What the library is told; its packets are the transport's, which are laid out alike.
#[inline]
fn ack_event(event: &congestion::Ack<'_>) -> c::Ack {
    let rate = event.rate.unwrap_or_default();
    c::Ack {
        now_ns: event.now.as_ns(),
        packets: event.packets.as_ptr().cast(),
        packet_count: event.packets.len(),
        acked_bytes: event.acked_bytes,
        growth_bytes: event.growth_bytes,
        lost_bytes: event.lost_bytes,
        rtt_ns: event.rtt.map_or(c::NONE, Span::as_ns),
        srtt_ns: event.srtt.as_ns(),
        rttvar_ns: event.rttvar.as_ns(),
        min_rtt_ns: event.min_rtt.as_ns(),
        ack_delay_ns: event.ack_delay.as_ns(),
        in_flight_before_bytes: event.in_flight_before_bytes,
        in_flight_bytes: event.in_flight_bytes,
        peak_in_flight_bytes: event.peak_in_flight_bytes,
        delivered_bytes: event.delivered_bytes,
        next_number: event.next_number,
        queued_bytes: event.queued_bytes,
        queue_delay_ns: event.queue_delay.as_ns(),
        rate_bps: rate.rate.bps(),
        rate_delivered_bytes: rate.delivered_bytes,
        rate_interval_ns: rate.interval.as_ns(),
        rate_prior_delivered_bytes: rate.prior_delivered_bytes,
        rate_lost_bytes: rate.lost_bytes,
        rate_in_flight_at_send_bytes: rate.in_flight_at_send_bytes,
        rate_valid: event.rate.is_some(),
        rate_app_limited: rate.app_limited,
        window_limited: event.window_limited,
        app_limited: event.app_limited,
        round_start: event.round_start,
        in_recovery: event.in_recovery,
    }
}

fn loss_event(event: &congestion::Loss<'_>) -> c::Loss {
    c::Loss {
        now_ns: event.now.as_ns(),
        packets: event.packets.as_ptr().cast(),
        packet_count: event.packets.len(),
        lost_bytes: event.lost_bytes,
        in_flight_before_bytes: event.in_flight_before_bytes,
        in_flight_bytes: event.in_flight_bytes,
        srtt_ns: event.srtt.as_ns(),
        next_number: event.next_number,
        new_episode: event.new_episode,
    }
}

impl Foreign for Native {
    fn hears(&self, callback: Callback) -> bool {
        let functions = &self.declared.functions;
        match callback {
            Callback::OnAck => functions.on_ack.is_some(),
            Callback::OnLoss => functions.on_loss.is_some(),
            Callback::OnTimeout => functions.on_timeout.is_some(),
            Callback::OnEcn => functions.on_ecn.is_some(),
            Callback::OnSent => functions.on_sent.is_some(),
            Callback::OnFrame => functions.on_frame.is_some(),
            Callback::OnEstablished => functions.on_established.is_some(),
            Callback::OnSpuriousLoss => functions.on_spurious_loss.is_some(),
            Callback::OnWake => functions.on_wake.is_some(),
            Callback::Create | Callback::Control | Callback::Fields | Callback::Destroy => true,
        }
    }

    #[expect(clippy::inline_always, reason = "who calls it knows what event it is")]
    #[inline(always)]
    fn on(&mut self, event: &Event<'_>) -> Result<(), String> {
        match *event {
            Event::Ack(event) => {
                self.call(self.declared.functions.on_ack, &ack_event(event));
            }
            Event::Loss(event) => {
                self.call(self.declared.functions.on_loss, &loss_event(event));
            }
            Event::Timeout(event) => self.call(
                self.declared.functions.on_timeout,
                &c::Timeout {
                    now_ns: event.now.as_ns(),
                    in_flight_before_bytes: event.in_flight_before_bytes,
                    next_number: event.next_number,
                    kind: match event.kind {
                        TimeoutKind::Rto => c::RTO,
                        TimeoutKind::PersistentCongestion => c::PERSISTENT_CONGESTION,
                    },
                    repeated: event.repeated,
                },
            ),
            Event::Ecn(event) => self.call(
                self.declared.functions.on_ecn,
                &c::Ecn {
                    now_ns: event.now.as_ns(),
                    ce_packets: event.ce_packets,
                    packets: event.packets,
                    in_flight_bytes: event.in_flight_bytes,
                    srtt_ns: event.srtt.as_ns(),
                    new_episode: event.new_episode,
                },
            ),
            Event::Sent(event) => self.call(
                self.declared.functions.on_sent,
                &c::Sent {
                    now_ns: event.now.as_ns(),
                    number: event.number,
                    in_flight_bytes: event.in_flight_bytes,
                    bytes: event.bytes,
                    retransmission: event.retransmission,
                    filler: event.filler,
                },
            ),
            Event::Frame(event) => self.call(
                self.declared.functions.on_frame,
                &c::Frame {
                    now_ns: event.now.as_ns(),
                    bytes: event.bytes,
                    queued_bytes: event.queued_bytes,
                    queue_delay_ns: event.queue_delay.as_ns(),
                    key: event.key,
                },
            ),
            Event::Established(now, rtt) => {
                if let Some(function) = self.declared.functions.on_established {
                    // SAFETY: the state is the library's.
                    unsafe { function(self.state, now.as_ns(), rtt.as_ns()) }
                }
            }
            Event::SpuriousLoss(now) => self.call_at(self.declared.functions.on_spurious_loss, now),
            Event::Wake(now) => self.call_at(self.declared.functions.on_wake, now),
        }
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn control(&self, answer: &mut Answer) -> Result<(), String> {
        let mut control = c::Control {
            window_bytes: answer.window_bytes,
            pacing_bps: answer.pacing_bps,
            burst_bytes: answer.burst_bytes,
            wake_at_ns: answer.wake_at_ns,
            media_bps: answer.media_bps,
            filler_bytes: answer.filler_bytes,
            failure: ptr::null(),
        };
        let Some(function) = self.declared.functions.control else { return Err(missing()) };
        // SAFETY: the state is the library's, the control valid during the call.
        unsafe { function(self.state, &raw mut control) }
        if !control.failure.is_null() {
            // SAFETY: the interface says that it is a text then.
            return Err(unsafe { gave_up(control.failure) });
        }
        *answer = Answer {
            window_bytes: control.window_bytes,
            pacing_bps: control.pacing_bps,
            burst_bytes: control.burst_bytes,
            wake_at_ns: control.wake_at_ns,
            media_bps: control.media_bps,
            filler_bytes: control.filler_bytes,
        };
        Ok(())
    }

    fn fields(&self, sink: &mut dyn FieldSink) -> Result<(), String> {
        let fields = &self.declared.fields;
        let Some(function) = self.declared.functions.fields.filter(|_| !fields.is_empty()) else {
            return Ok(());
        };
        let mut values = [f64::NAN; c::MOST_FIELDS];
        // SAFETY: the state is the library's; there is room for as many values as a library may declare fields.
        unsafe { function(self.state, values.as_mut_ptr()) }
        for ((name, unit), value) in fields.iter().zip(values) {
            sink.put(name, unit, value);
        }
        Ok(())
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        if let Some(destroy) = self.declared.functions.destroy {
            // SAFETY: the state is the library's and not used again.
            unsafe { destroy(self.state) }
        }
    }
}

/// A library without a function that is needed; none such is loaded.
#[cold]
fn missing() -> String {
    "is missing".to_owned()
}

/// Why the controller gives up.
///
/// # Safety
/// `why` points to a text that ends with a zero.
#[cold]
unsafe fn gave_up(why: *const c_char) -> String {
    // SAFETY: the caller says so.
    let why = unsafe { CStr::from_ptr(why) };
    format!("gave up: {}", why.to_string_lossy())
}

/// A text of the library, if it is one.
///
/// # Safety
/// `text` is NULL or points to a text that ends with a zero.
unsafe fn lossy(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller says so.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// The text of a value; empty for those without.
fn text(value: &Value) -> CString {
    let text = match value {
        Value::Choice(name) => name,
        Value::File(Some(file)) => &*file.name,
        Value::File(None) | Value::Number(_) | Value::Integer(_) | Value::Flag(_) => "",
    };
    // Names of files and choices have no zeros in them: the system and the library's declaration see to that.
    CString::new(text).unwrap_or_default()
}

fn c_value(parameter: &congestion::Parameter, value: &Value, text: &CString) -> c::Value {
    let plain = |number| c::Value { number, text: ptr::null(), contents: ptr::null(), length: 0 };
    match value {
        Value::Number(number) => plain(*number),
        Value::Integer(number) => plain(*number as f64),
        Value::Flag(flag) => plain(f64::from(u8::from(*flag))),
        Value::Choice(name) => {
            let index = match parameter.kind {
                congestion::ParameterKind::Choice(choices) => {
                    choices.iter().position(|choice| choice == name)
                }
                _ => None,
            };
            c::Value { text: text.as_ptr(), ..plain(index.unwrap_or(0) as f64) }
        }
        Value::File(None) => plain(0.0),
        Value::File(Some(file)) => c::Value {
            number: 0.0,
            text: text.as_ptr(),
            contents: file.contents.as_ptr(),
            length: file.contents.len(),
        },
    }
}
