//! Controller of a loaded library, called through its functions.
#![allow(unsafe_code, reason = "calls functions of a library by the contract of `include/dumbbell.h`")]

use crate::Fault;
use crate::callback::Callback;
use crate::guard::{Answer, Event, Foreign};
use crate::interface as c;
use congestion::{AckedPacket, FieldSink, Parameters, RateSample, Start, TimeoutKind, Value};
use core::ffi::{CStr, c_char, c_void};
use core::{mem, ptr};
use std::ffi::CString;
use std::sync::Arc;
use units::{Rate, Span};

/// Controller that a library declares, with its texts checked and copied. The library is never unloaded.
pub(crate) struct Declared {
    /// Declaration in the library, which its functions get as an argument.
    pub(crate) declaration: *const c::Controller,
    /// Copy of the declaration, up to the fields of this version.
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

/// State of one flow with its controller.
pub(crate) struct Native {
    declared: Arc<Declared>,
    state: *mut c_void,
    /// Losses that come with the next ACK, for a library that handles both in one call.
    held: Held,
}

/// Packets that the next reported ACK declared lost.
#[derive(Default)]
struct Held {
    packets: Vec<AckedPacket>,
    new_episode: bool,
}

// SAFETY: the interface says that a state is used by one thread at a time, not that it is always the same.
unsafe impl Send for Native {}

impl Native {
    /// Creates the state of a new flow.
    ///
    /// # Errors
    /// Returns the fault of the library.
    pub(crate) fn create(
        declared: &Arc<Declared>,
        parameters: &Parameters,
        start: &Start,
    ) -> Result<Self, Fault> {
        let create = declared.functions.create.ok_or(Fault::Missing)?;
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
            return Err(why.map_or(Fault::Null, Fault::RefusedToStart));
        }
        Ok(Self { declared: Arc::clone(declared), state, held: Held::default() })
    }

    /// Calls a function of the library with an event, if the library has it.
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

/// Reads a field separately. Compilers combine reads of adjacent fields; such a read is slow if the fields were just
/// written separately, as in events.
#[expect(clippy::inline_always, reason = "a move")]
#[inline(always)]
fn alone<T: Copy>(field: &T) -> T {
    // SAFETY: what a reference points to can be read.
    unsafe { ptr::from_ref(field).read_volatile() }
}

/// Placeholder for an ACK without a sample.
static NO_RATE: RateSample = RateSample {
    delivered_bytes: 0,
    interval: Span::ZERO,
    rate: Rate::ZERO,
    prior_delivered_bytes: 0,
    lost_bytes: 0,
    in_flight_at_send_bytes: 0,
    app_limited: false,
};

/// Converts an event for the library. The packets stay in the transport's memory, since the layouts agree.
#[inline]
fn ack_event(event: &congestion::Ack<'_>) -> c::Ack {
    let rate = event.rate.as_ref().unwrap_or(&NO_RATE);
    // SAFETY: numbers, flags and a pointer may be zero.
    let mut ack: c::Ack = unsafe { mem::zeroed() };
    // The fields are set one by one, since all of them exceed the registers.
    ack.now_ns = alone(&event.now).as_ns();
    let packets = alone(&event.packets);
    ack.packets = packets.as_ptr().cast();
    ack.packet_count = packets.len();
    ack.acked_bytes = alone(&event.acked_bytes);
    ack.growth_bytes = alone(&event.growth_bytes);
    ack.lost_bytes = alone(&event.lost_bytes);
    ack.rtt_ns = event.rtt.as_ref().map_or(c::NONE, |rtt| alone(rtt).as_ns());
    ack.srtt_ns = alone(&event.srtt).as_ns();
    ack.rttvar_ns = alone(&event.rttvar).as_ns();
    ack.min_rtt_ns = alone(&event.min_rtt).as_ns();
    ack.ack_delay_ns = alone(&event.ack_delay).as_ns();
    ack.in_flight_before_bytes = alone(&event.in_flight_before_bytes);
    ack.in_flight_bytes = alone(&event.in_flight_bytes);
    ack.peak_in_flight_bytes = alone(&event.peak_in_flight_bytes);
    ack.delivered_bytes = alone(&event.delivered_bytes);
    ack.next_number = alone(&event.next_number);
    ack.queued_bytes = alone(&event.queued_bytes);
    ack.queue_delay_ns = alone(&event.queue_delay).as_ns();
    ack.rate_bps = alone(&rate.rate).bps();
    ack.rate_delivered_bytes = alone(&rate.delivered_bytes);
    ack.rate_interval_ns = alone(&rate.interval).as_ns();
    ack.rate_prior_delivered_bytes = alone(&rate.prior_delivered_bytes);
    ack.rate_lost_bytes = alone(&rate.lost_bytes);
    ack.rate_in_flight_at_send_bytes = alone(&rate.in_flight_at_send_bytes);
    ack.rate_valid = event.rate.is_some();
    ack.rate_app_limited = alone(&rate.app_limited);
    ack.window_limited = alone(&event.window_limited);
    ack.app_limited = alone(&event.app_limited);
    ack.round_start = alone(&event.round_start);
    ack.in_recovery = alone(&event.in_recovery);
    ack.complete_bytes = alone(&event.complete_bytes);
    ack.sent_bytes = alone(&event.sent_bytes);
    ack.pacing_limited = alone(&event.pacing_limited);
    ack
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
        by_ack: event.by_ack,
    }
}

impl Foreign for Native {
    fn hears(&self, callback: Callback) -> bool {
        let functions = &self.declared.functions;
        match callback {
            Callback::OnAck => functions.on_ack.is_some(),
            Callback::OnLoss => functions.on_loss.is_some() || functions.losses_with_ack,
            Callback::OnTimeout => functions.on_timeout.is_some(),
            Callback::OnEcn => functions.on_ecn.is_some(),
            Callback::OnSent => functions.on_sent.is_some(),
            Callback::OnFrame => functions.on_frame.is_some(),
            Callback::OnEstablished => functions.on_established.is_some(),
            Callback::OnSpuriousLoss => functions.on_spurious_loss.is_some(),
            Callback::OnWake => functions.on_wake.is_some(),
            Callback::OnRecovered => functions.on_recovered.is_some(),
            Callback::Create | Callback::Control | Callback::Fields | Callback::Destroy => true,
        }
    }

    #[expect(clippy::inline_always, reason = "who calls it knows what event it is")]
    #[inline(always)]
    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        match *event {
            Event::Ack(event) => {
                let mut told = ack_event(event);
                if !self.held.packets.is_empty() {
                    told.lost = self.held.packets.as_ptr().cast();
                    told.lost_count = self.held.packets.len();
                    told.lost_new_episode = mem::take(&mut self.held.new_episode);
                }
                self.call(self.declared.functions.on_ack, &told);
                self.held.packets.clear();
            }
            Event::Loss(event) if event.by_ack && self.declared.functions.losses_with_ack => {
                self.held.packets.extend_from_slice(event.packets);
                self.held.new_episode |= event.new_episode;
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
                    newest_sent_at_ns: event.newest_sent_at.as_ns(),
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
                    frame: event.frame,
                    frame_end: event.frame_end,
                    idle_timeouts: event.idle_timeouts,
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
                    number: event.number,
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
            Event::Recovered(now) => self.call_at(self.declared.functions.on_recovered, now),
        }
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn control(&self, answer: &mut Answer) -> Result<(), Fault> {
        let mut control = c::Control {
            window_bytes: answer.window_bytes,
            pacing_bps: answer.pacing_bps,
            burst_bytes: answer.burst_bytes,
            wake_at_ns: answer.wake_at_ns,
            media_bps: answer.media_bps,
            filler_bytes: answer.filler_bytes,
            failure: ptr::null(),
            max_frame_wait_ns: answer.max_frame_wait_ns,
            app_limited: answer.app_limited,
        };
        let Some(function) = self.declared.functions.control else { return Err(Fault::Missing) };
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
            max_frame_wait_ns: control.max_frame_wait_ns,
            app_limited: control.app_limited,
        };
        Ok(())
    }

    fn fields(&self, sink: &mut dyn FieldSink) -> Result<(), Fault> {
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

/// Returns the fault of a controller that gives up.
///
/// # Safety
/// `why` must point to a null-terminated string.
#[cold]
unsafe fn gave_up(why: *const c_char) -> Fault {
    // SAFETY: the caller says so.
    let why = unsafe { CStr::from_ptr(why) };
    Fault::GaveUp(why.to_string_lossy().into_owned())
}

/// Returns a string of the library, if it is one.
///
/// # Safety
/// `text` must be NULL or point to a null-terminated string.
unsafe fn lossy(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller says so.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// Returns the text of a value; empty for values without text.
fn text(value: &Value) -> CString {
    let text = match value {
        Value::Choice(name) => name,
        Value::File(Some(file)) => &*file.name,
        Value::File(None) | Value::Number(_) | Value::Integer(_) | Value::Flag(_) => "",
    };
    // Names of files and choices contain no null characters, as the system and the library's declaration ensure.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{self, acked};
    use congestion::{Ack, AckedPacket};
    use units::Time;

    #[test]
    fn all_of_an_ack_reaches_a_library() {
        let mut numbers = 1_u64..;
        let mut next = || numbers.next().unwrap();
        let packet = AckedPacket {
            number: next(),
            sent_at: Time::from_ns(next()),
            received_at: Time::from_ns(next()),
            lost_at_send_bytes: next(),
            in_flight_at_send_bytes: next(),
            bytes: 1448,
            retransmission: true,
            was_lost: false,
            ce: true,
        };
        let packets = [packet, AckedPacket { number: next(), was_lost: true, ce: false, ..packet }];
        let event = Ack {
            now: Time::from_ns(next()),
            packets: &packets,
            acked_bytes: next(),
            growth_bytes: next(),
            lost_bytes: next(),
            rtt: Some(Span::from_ns(next())),
            srtt: Span::from_ns(next()),
            rttvar: Span::from_ns(next()),
            min_rtt: Span::from_ns(next()),
            ack_delay: Span::from_ns(next()),
            in_flight_before_bytes: next(),
            in_flight_bytes: next(),
            peak_in_flight_bytes: next(),
            window_limited: true,
            pacing_limited: false,
            app_limited: false,
            delivered_bytes: next(),
            rate: Some(RateSample {
                delivered_bytes: next(),
                interval: Span::from_ns(next()),
                rate: Rate::from_bps(next()),
                prior_delivered_bytes: next(),
                lost_bytes: next(),
                in_flight_at_send_bytes: next(),
                app_limited: true,
            }),
            round_start: false,
            in_recovery: true,
            next_number: next(),
            queued_bytes: next(),
            queue_delay: Span::from_ns(next()),
            feedback: &[],
            complete_bytes: next(),
            sent_bytes: next(),
        };
        for event in [event, Ack { app_limited: true, round_start: true, rtt: None, rate: None, ..event }] {
            let told = ack_event(&event);
            // SAFETY: the packets are those of the event.
            let packets = unsafe { acked(told.packets, told.packet_count) };
            // A Rust library converts the event back to an equal one.
            assert_eq!(format!("{:?}", export::ack_event(&told, packets)), format!("{event:?}"));
        }
    }
}
