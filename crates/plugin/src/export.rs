//! Library side of the interface: a library of entries written in Rust, for crates of type `cdylib`.
#![allow(unsafe_code, reason = "is called through the functions of `include/dumbbell.h`")]

use crate::interface as c;
use congestion::{
    Ack, AckedPacket, Controller, Ecn, Entry, FieldSink, Files, Frame, Loss, Parameter, ParameterKind,
    Parameters, RateSample, Sent, Start, Timeout, TimeoutKind, Value,
};
use core::cell::{OnceCell, RefCell};
use core::ffi::{CStr, c_char, c_void};
use core::mem::size_of;
use core::ptr;
use std::ffi::CString;
use std::panic::{self, AssertUnwindSafe};
use strict_input::Refusal;
use units::{Rate, Span, Time};

/// Defines a library for `dumbbell run --plugin`: `plugin::export!(ENTRY, ANOTHER);`, once in a crate of type `cdylib`.
/// A controller that panics ends its run with the message. Receiver halves of schemes are not supported.
#[macro_export]
macro_rules! export {
    ($($entry:expr),+ $(,)?) => {
        /// Returns the declaration that dumbbell reads when it loads this library.
        #[unsafe(no_mangle)]
        pub extern "C" fn dumbbell_plugin() -> *const $crate::Plugin {
            static EXPORTED: ::std::sync::OnceLock<$crate::Exported> = ::std::sync::OnceLock::new();
            EXPORTED.get_or_init(|| $crate::Exported::new(::std::vec![$($entry),+])).declaration()
        }
    };
}

/// Declaration of a library of [`export!`].
pub struct Exported(c::Plugin);

// SAFETY: all that is pointed to is constant and lives as long as the process.
unsafe impl Send for Exported {}
// SAFETY: as above.
unsafe impl Sync for Exported {}

/// Declared controller with its entry.
#[repr(C)]
struct Export {
    /// First field, since `create` gets a pointer to it.
    declaration: c::Controller,
    entry: Entry,
    fields: Vec<(&'static str, &'static str)>,
}

impl Exported {
    /// Returns the declaration of these entries.
    pub fn new(entries: Vec<Entry>) -> Self {
        panic::set_hook(Box::new(|info| LAST_PANIC.set(info.to_string().replace('\n', " "))));
        let controllers: Vec<*const c::Controller> = entries.into_iter().map(declare).collect();
        Self(c::Plugin {
            interface_version: c::VERSION,
            plugin_size: size_of::<c::Plugin>() as u32,
            controller_size: size_of::<c::Controller>() as u32,
            parameter_size: size_of::<c::Parameter>() as u32,
            field_size: size_of::<c::Field>() as u32,
            value_size: size_of::<c::Value>() as u32,
            start_size: size_of::<c::Start>() as u32,
            control_size: size_of::<c::Control>() as u32,
            packet_size: size_of::<c::Packet>() as u32,
            ack_size: size_of::<c::Ack>() as u32,
            loss_size: size_of::<c::Loss>() as u32,
            timeout_size: size_of::<c::Timeout>() as u32,
            ecn_size: size_of::<c::Ecn>() as u32,
            sent_size: size_of::<c::Sent>() as u32,
            frame_size: size_of::<c::Frame>() as u32,
            controller_count: controllers.len(),
            controllers: Vec::leak(controllers).as_ptr(),
        })
    }

    /// Returns the declaration in the interface's form.
    pub const fn declaration(&self) -> *const c::Plugin {
        &raw const self.0
    }
}

/// Returns the declaration of one controller, which is never freed.
fn declare(entry: Entry) -> *const c::Controller {
    let fields = fields_of(&entry);
    let declared: Vec<c::Field> =
        fields.iter().map(|(name, unit)| c::Field { name: leak(name), unit: leak(unit) }).collect();
    let parameters: Vec<c::Parameter> = entry.parameters.iter().map(c_parameter).collect();
    let declaration = c::Controller {
        name: leak(entry.name),
        summary: leak(entry.summary),
        parameter_count: parameters.len(),
        parameters: Vec::leak(parameters).as_ptr(),
        field_count: declared.len(),
        field_list: Vec::leak(declared).as_ptr(),
        create: Some(create),
        destroy: Some(destroy),
        on_ack: Some(on_ack),
        control: Some(control),
        fields: Some(write_fields),
        on_loss: Some(on_loss),
        on_timeout: Some(on_timeout),
        on_ecn: Some(on_ecn),
        on_sent: Some(on_sent),
        on_frame: Some(on_frame),
        on_established: Some(on_established),
        on_spurious_loss: Some(on_spurious_loss),
        on_wake: Some(on_wake),
        on_recovered: Some(on_recovered),
        losses_with_ack: false,
    };
    let export: &'static Export = Box::leak(Box::new(Export { declaration, entry, fields }));
    ptr::from_ref(export).cast()
}

/// Returns the names and units of a new controller's fields; none if it cannot be built with default parameters.
fn fields_of(entry: &Entry) -> Vec<(&'static str, &'static str)> {
    struct Names(Vec<(&'static str, &'static str)>);
    impl FieldSink for Names {
        fn put(&mut self, name: &'static str, unit: &'static str, _value: f64) {
            self.0.push((name, unit));
        }
    }
    let start = Start { now: Time::ZERO, mss_bytes: 1448, initial_window_bytes: 14_480, seed: 1 };
    let mut names = Names(Vec::new());
    let write =
        || entry.build(&Parameters::defaults(entry.parameters), &start).map(|built| built.fields(&mut names));
    // The reason for a failed build is reported when a flow begins.
    let _built = panic::catch_unwind(AssertUnwindSafe(write));
    names.0
}

fn c_parameter(parameter: &Parameter) -> c::Parameter {
    let (kind, preset, least, most, choices) = match (&parameter.kind, &parameter.default) {
        (ParameterKind::Number { min, max }, Value::Number(preset)) => {
            (c::KIND_NUMBER, *preset, *min, *max, ptr::null())
        }
        (ParameterKind::Integer { min, max }, Value::Integer(preset)) => {
            (c::KIND_INTEGER, *preset as f64, *min as f64, *max as f64, ptr::null())
        }
        (ParameterKind::Choice(choices), Value::Choice(preset)) => {
            let index = choices.iter().position(|choice| choice == preset).unwrap_or(0);
            let mut names: Vec<*const c_char> = choices.iter().map(|choice| leak(choice)).collect();
            names.push(ptr::null());
            (c::KIND_CHOICE, index as f64, 0.0, 0.0, Vec::leak(names).as_ptr())
        }
        (ParameterKind::File, _) => (c::KIND_FILE, 0.0, 0.0, 0.0, ptr::null()),
        (_, preset) => {
            (c::KIND_FLAG, f64::from(u8::from(*preset == Value::Flag(true))), 0.0, 1.0, ptr::null())
        }
    };
    let (name, unit, help) = (leak(parameter.name), leak(parameter.unit), leak(parameter.help));
    c::Parameter { name, unit, help, kind, preset, least, most, choices }
}

/// Returns a C string that is never freed.
fn leak(text: &str) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

thread_local! {
    /// Message of the last panic in this thread.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// State of one flow.
struct State {
    controller: Box<dyn Controller>,
    export: &'static Export,
    /// Reason why the controller gave up.
    failure: OnceCell<CString>,
}

impl State {
    /// Returns the result of `act`; `None` if the controller panics or has given up before.
    fn attempt<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        if self.failure.get().is_some() {
            return None;
        }
        panic::catch_unwind(AssertUnwindSafe(act)).map_err(|_| self.give_up(&LAST_PANIC.take())).ok()
    }

    fn give_up(&self, why: &str) {
        // The first reason is kept.
        let _first = self.failure.set(CString::new(why).unwrap_or_default());
    }
}

/// Reports an event to the controller of `state`.
///
/// # Safety
/// `state` must come from [`create`], and nobody else may use it during the call.
unsafe fn tell(state: *mut c_void, act: impl FnOnce(&mut dyn Controller)) {
    // SAFETY: the caller says so.
    let state = unsafe { &mut *state.cast::<State>() };
    if state.failure.get().is_none() {
        let told = panic::catch_unwind(AssertUnwindSafe(|| act(state.controller.as_mut())));
        if told.is_err() {
            state.give_up(&LAST_PANIC.take());
        }
    }
}

unsafe extern "C" fn create(
    declaration: *const c::Controller,
    start: *const c::Start,
    values: *const c::Value,
    refusal: *mut *const c_char,
) -> *mut c_void {
    // SAFETY: the declaration is the first part of an export of ours, the start valid during the call.
    let (export, start) = unsafe { (&*declaration.cast::<Export>(), &*start) };
    let start = Start {
        now: Time::from_ns(start.now_ns),
        mss_bytes: start.mss_bytes,
        initial_window_bytes: start.initial_window_bytes,
        seed: start.seed,
    };
    let entry = &export.entry;
    // SAFETY: there are as many values as parameters were declared.
    let built = unsafe { parameters(entry, values) }.and_then(|parameters| {
        if entry.receiver.is_some() {
            return Err(Refusal::new(
                "it has a half at the receiver, which the plug-in interface does not carry",
            ));
        }
        let build = || entry.build(&parameters, &start);
        panic::catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(|_| Err(Refusal::new(LAST_PANIC.take())))
    });
    match built {
        Ok(controller) => {
            let state = State { controller, export, failure: OnceCell::new() };
            Box::into_raw(Box::new(state)).cast()
        }
        Err(why) => {
            // SAFETY: the place is valid during the call.
            unsafe { *refusal = leak(&why.to_string()) };
            ptr::null_mut()
        }
    }
}

/// Converts the values to parameters of `entry`.
///
/// # Safety
/// There must be as many `values` as the entry has parameters, valid during the call.
unsafe fn parameters(entry: &Entry, values: *const c::Value) -> Result<Parameters, Refusal> {
    let mut texts = Vec::new();
    let mut files = Files::new();
    for (index, parameter) in entry.parameters.iter().enumerate() {
        // SAFETY: the caller says so.
        let value = unsafe { &*values.add(index) };
        let text = || {
            // SAFETY: not NULL where this is called, and then a text.
            unsafe { CStr::from_ptr(value.text) }.to_string_lossy().into_owned()
        };
        match parameter.kind {
            ParameterKind::Number { .. } => texts.push((parameter.name, value.number.to_string())),
            ParameterKind::Integer { .. } => texts.push((parameter.name, (value.number as i64).to_string())),
            ParameterKind::Flag => texts.push((parameter.name, (value.number != 0.0).to_string())),
            ParameterKind::Choice(_) => texts.push((parameter.name, text())),
            ParameterKind::File if value.text.is_null() => {}
            ParameterKind::File => {
                // SAFETY: a file that was named has contents of this length.
                let contents = unsafe { core::slice::from_raw_parts(value.contents, value.length) };
                files.insert(text(), contents.into());
                texts.push((parameter.name, text()));
            }
        }
    }
    let mut parameters = Parameters::defaults(entry.parameters).with_files(files);
    texts.iter().try_for_each(|(name, text)| parameters.set(name, text))?;
    Ok(parameters)
}

unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: a state of `create`, not used again.
    let state = unsafe { Box::from_raw(state.cast::<State>()) };
    // A panic at the end has no further effect, and must not leave this function.
    let _ended = panic::catch_unwind(AssertUnwindSafe(|| drop(state)));
}

unsafe extern "C" fn control(state: *const c_void, control: *mut c::Control) {
    // SAFETY: a state of `create`; the control is valid during the call.
    let (state, control) = unsafe { (&*state.cast::<State>(), &mut *control) };
    let rate = |rate: Option<Rate>| rate.map_or(f64::INFINITY, |rate| rate.bps() as f64);
    if let Some(allowed) = state.attempt(|| state.controller.control()) {
        let window = allowed.window_bytes;
        control.window_bytes = if window == u64::MAX { f64::INFINITY } else { window as f64 };
        control.pacing_bps = rate(allowed.pacing);
        control.burst_bytes = allowed.burst_bytes;
        control.wake_at_ns = allowed.wake_at.as_ns();
        control.media_bps = rate(allowed.media_rate);
        control.filler_bytes = allowed.filler_bytes.map_or(-1, i64::from);
        control.max_frame_wait_ns = allowed.max_frame_wait.map_or(c::NONE, Span::as_ns);
        control.app_limited = allowed.app_limited;
    }
    control.failure = state.failure.get().map_or(ptr::null(), |why| why.as_ptr());
}

unsafe extern "C" fn write_fields(state: *const c_void, values: *mut f64) {
    struct Written<'a> {
        names: &'a [(&'static str, &'static str)],
        values: &'a mut [f64],
        unknown: Option<&'static str>,
    }
    impl FieldSink for Written<'_> {
        fn put(&mut self, name: &'static str, _unit: &'static str, value: f64) {
            match self.names.iter().position(|(known, _)| *known == name) {
                Some(index) => self.values[index] = value,
                None => self.unknown = Some(name),
            }
        }
    }
    // SAFETY: a state of `create`.
    let state = unsafe { &*state.cast::<State>() };
    let names = &state.export.fields;
    // SAFETY: there is room for as many values as were declared.
    let values = unsafe { core::slice::from_raw_parts_mut(values, names.len()) };
    values.fill(f64::NAN);
    let mut sink = Written { names, values, unknown: None };
    state.attempt(|| state.controller.fields(&mut sink));
    if let Some(name) = sink.unknown {
        state.give_up(&format!("writes a field `{name}` that a fresh controller does not write"));
    }
}

/// Returns the packets of an event, which have the layout of the Rust type.
///
/// # Safety
/// The array must have `count` packets, which stay valid while they are used.
pub(crate) unsafe fn acked<'a>(packets: *const c::Packet, count: usize) -> &'a [AckedPacket] {
    // SAFETY: the caller says so; that the layouts agree is checked where the structure is.
    unsafe { core::slice::from_raw_parts(packets.cast(), count) }
}

pub(crate) fn ack_event<'a>(event: &c::Ack, packets: &'a [AckedPacket]) -> Ack<'a> {
    Ack {
        now: Time::from_ns(event.now_ns),
        packets,
        acked_bytes: event.acked_bytes,
        growth_bytes: event.growth_bytes,
        lost_bytes: event.lost_bytes,
        rtt: (event.rtt_ns != c::NONE).then(|| Span::from_ns(event.rtt_ns)),
        srtt: Span::from_ns(event.srtt_ns),
        rttvar: Span::from_ns(event.rttvar_ns),
        min_rtt: Span::from_ns(event.min_rtt_ns),
        ack_delay: Span::from_ns(event.ack_delay_ns),
        in_flight_before_bytes: event.in_flight_before_bytes,
        in_flight_bytes: event.in_flight_bytes,
        peak_in_flight_bytes: event.peak_in_flight_bytes,
        window_limited: event.window_limited,
        app_limited: event.app_limited,
        delivered_bytes: event.delivered_bytes,
        rate: event.rate_valid.then(|| RateSample {
            delivered_bytes: event.rate_delivered_bytes,
            interval: Span::from_ns(event.rate_interval_ns),
            rate: Rate::from_bps(event.rate_bps),
            prior_delivered_bytes: event.rate_prior_delivered_bytes,
            lost_bytes: event.rate_lost_bytes,
            in_flight_at_send_bytes: event.rate_in_flight_at_send_bytes,
            app_limited: event.rate_app_limited,
        }),
        round_start: event.round_start,
        in_recovery: event.in_recovery,
        next_number: event.next_number,
        queued_bytes: event.queued_bytes,
        queue_delay: Span::from_ns(event.queue_delay_ns),
        feedback: &[],
        complete_bytes: event.complete_bytes,
        sent_bytes: event.sent_bytes,
        pacing_limited: event.pacing_limited,
    }
}

unsafe extern "C" fn on_ack(state: *mut c_void, event: *const c::Ack) {
    // SAFETY: a state of `create`; the event and its packets are valid during the call.
    unsafe {
        tell(state, |controller| {
            let event = &*event;
            controller.on_ack(&ack_event(event, acked(event.packets, event.packet_count)));
        });
    }
}

unsafe extern "C" fn on_loss(state: *mut c_void, event: *const c::Loss) {
    // SAFETY: a state of `create`; the event and its packets are valid during the call.
    unsafe {
        tell(state, |controller| {
            let event = &*event;
            controller.on_loss(&Loss {
                now: Time::from_ns(event.now_ns),
                packets: acked(event.packets, event.packet_count),
                lost_bytes: event.lost_bytes,
                in_flight_before_bytes: event.in_flight_before_bytes,
                in_flight_bytes: event.in_flight_bytes,
                new_episode: event.new_episode,
                by_ack: event.by_ack,
                srtt: Span::from_ns(event.srtt_ns),
                next_number: event.next_number,
            });
        });
    }
}

unsafe extern "C" fn on_timeout(state: *mut c_void, event: *const c::Timeout) {
    // SAFETY: a state of `create`; the event is valid during the call.
    unsafe {
        tell(state, |controller| {
            let event = &*event;
            controller.on_timeout(&Timeout {
                now: Time::from_ns(event.now_ns),
                kind: match event.kind {
                    c::PERSISTENT_CONGESTION => TimeoutKind::PersistentCongestion,
                    _ => TimeoutKind::Rto,
                },
                repeated: event.repeated,
                in_flight_before_bytes: event.in_flight_before_bytes,
                next_number: event.next_number,
            });
        });
    }
}

unsafe extern "C" fn on_ecn(state: *mut c_void, event: *const c::Ecn) {
    // SAFETY: a state of `create`; the event is valid during the call.
    unsafe {
        tell(state, |controller| {
            let event = &*event;
            controller.on_ecn(&Ecn {
                now: Time::from_ns(event.now_ns),
                ce_packets: event.ce_packets,
                packets: event.packets,
                newest_sent_at: Time::from_ns(event.newest_sent_at_ns),
                new_episode: event.new_episode,
                in_flight_bytes: event.in_flight_bytes,
                srtt: Span::from_ns(event.srtt_ns),
            });
        });
    }
}

unsafe extern "C" fn on_sent(state: *mut c_void, event: *const c::Sent) {
    // SAFETY: a state of `create`; the event is valid during the call.
    unsafe {
        tell(state, |controller| {
            let event = &*event;
            controller.on_sent(&Sent {
                now: Time::from_ns(event.now_ns),
                number: event.number,
                bytes: event.bytes,
                in_flight_bytes: event.in_flight_bytes,
                retransmission: event.retransmission,
                filler: event.filler,
                frame: event.frame,
                frame_end: event.frame_end,
                idle_timeouts: event.idle_timeouts,
            });
        });
    }
}

unsafe extern "C" fn on_frame(state: *mut c_void, event: *const c::Frame) {
    // SAFETY: a state of `create`; the event is valid during the call.
    unsafe {
        tell(state, |controller| {
            let event = &*event;
            controller.on_frame(&Frame {
                now: Time::from_ns(event.now_ns),
                bytes: event.bytes,
                key: event.key,
                number: event.number,
                queued_bytes: event.queued_bytes,
                queue_delay: Span::from_ns(event.queue_delay_ns),
            });
        });
    }
}

unsafe extern "C" fn on_established(state: *mut c_void, now_ns: u64, rtt_ns: u64) {
    // SAFETY: a state of `create`.
    unsafe {
        tell(state, |controller| {
            controller.on_established(Time::from_ns(now_ns), Span::from_ns(rtt_ns));
        });
    }
}

unsafe extern "C" fn on_spurious_loss(state: *mut c_void, now_ns: u64) {
    // SAFETY: a state of `create`.
    unsafe { tell(state, |controller| controller.on_spurious_loss(Time::from_ns(now_ns))) }
}

unsafe extern "C" fn on_wake(state: *mut c_void, now_ns: u64) {
    // SAFETY: a state of `create`.
    unsafe { tell(state, |controller| controller.on_wake(Time::from_ns(now_ns))) }
}

unsafe extern "C" fn on_recovered(state: *mut c_void, now_ns: u64) {
    // SAFETY: a state of `create`.
    unsafe { tell(state, |controller| controller.on_recovered(Time::from_ns(now_ns))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;
    use crate::guard::{Answer, Event, Foreign};
    use crate::library::read;
    use crate::native::Native;
    use congestion::Control;
    use std::sync::{Mutex, PoisonError};

    const PARAMETERS: &[Parameter] = &[
        Parameter::integer("window", "packets", 10, (1, 100), "The window."),
        Parameter::choice("panics", "never", &["never", "at once", "later"], "When it panics."),
    ];
    const ENTRY: Entry = Entry::new("steady", "Always the same window", PARAMETERS, |parameters, start| {
        Box::new(Steady::new(parameters, start))
    });

    #[derive(Debug)]
    struct Steady {
        bytes: u64,
        panics: bool,
    }

    impl Steady {
        fn new(parameters: &Parameters, start: &Start) -> Self {
            assert!(parameters.choice("panics") != "at once", "it was to panic");
            let packets = parameters.integer("window").unsigned_abs();
            Self {
                bytes: packets * u64::from(start.mss_bytes),
                panics: parameters.choice("panics") == "later",
            }
        }
    }

    impl Controller for Steady {
        fn on_ack(&mut self, _: &Ack<'_>) {}

        fn on_sent(&mut self, event: &Sent) {
            assert!(!self.panics, "it was to panic later");
            self.bytes += u64::from(event.bytes);
        }

        fn control(&self) -> Control {
            Control::window(self.bytes)
        }

        fn fields(&self, sink: &mut dyn FieldSink) {
            sink.put("level", "bytes", self.bytes as f64);
        }
    }

    struct Last(f64);

    impl FieldSink for Last {
        fn put(&mut self, _: &'static str, _: &'static str, value: f64) {
            self.0 = value;
        }
    }

    /// Lock of the panic hook, which all tests share.
    static HOOK: Mutex<()> = Mutex::new(());

    /// Creates a flow of the exported entry as from a loaded library.
    fn made(set: &[(&str, &str)]) -> Result<Native, Fault> {
        let _alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
        let before = panic::take_hook();
        let exported = Exported::new(vec![ENTRY]);
        let theirs = panic::take_hook();
        panic::set_hook(before);
        let declared = read(exported.declaration()).expect("a declaration that is read");
        assert_eq!((declared.len(), declared[0].name), (1, "steady"));
        assert_eq!(declared[0].fields, [("level", "bytes")]);
        let mut parameters = Parameters::defaults(declared[0].parameters);
        for (name, text) in set {
            parameters.set(name, text).expect("a parameter");
        }
        let start = Start { now: Time::ZERO, mss_bytes: 1000, initial_window_bytes: 10_000, seed: 1 };
        let before = panic::take_hook();
        panic::set_hook(theirs);
        let native = Native::create(&declared[0], &parameters, &start);
        panic::set_hook(before);
        native
    }

    const SENT: Sent = Sent {
        now: Time::ZERO,
        number: 1,
        bytes: 500,
        in_flight_bytes: 500,
        retransmission: false,
        filler: false,
        frame: 0,
        frame_end: false,
        idle_timeouts: 0,
    };

    #[test]
    fn an_exported_entry_is_read_made_told_and_asked() {
        let mut native = made(&[("window", "7")]).unwrap();
        let (mut answer, mut field) = (Answer::default(), Last(0.0));
        native.control(&mut answer).unwrap();
        assert!((answer.window_bytes - 7000.0).abs() < 0.5);
        native.on(&Event::Sent(&SENT)).unwrap();
        native.fields(&mut field).unwrap();
        assert!((field.0 - 7500.0).abs() < 0.5);
    }

    #[test]
    fn a_panic_refuses_to_start_or_gives_up_with_its_message() {
        let refused = made(&[("panics", "at once")]).err().unwrap().to_string();
        assert!(refused.starts_with("refused to start: "), "{refused}");
        assert!(refused.contains("it was to panic"), "{refused}");
        let mut native = made(&[("panics", "later")]).unwrap();
        native.on(&Event::Sent(&SENT)).unwrap();
        assert!(native.control(&mut Answer::default()).unwrap_err().to_string().starts_with("gave up"));
    }
}
