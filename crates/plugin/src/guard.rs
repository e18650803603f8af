//! Guard between the transport and an external controller. It calls the controller and checks the answers. An invalid
//! answer ends the run with a line that names the plug-in. Built-in controllers have no guard and no cost.

use crate::Fault;
use crate::callback::Callback;
use crate::watch::{Place, Watch};
use congestion::{Ack, Control, Controller, Ecn, FieldSink, Frame, Loss, Sent, Start, Timeout};
use core::fmt::Display;
use core::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use units::{Rate, Span, Time};

/// Controller in another language. Every method may fail; the error is the end of a sentence: `raised ...`.
///
/// Events for which [`hears`](Self::hears) is false are not reported.
pub trait Foreign: Send {
    /// Returns true if the controller handles this event.
    fn hears(&self, callback: Callback) -> bool;

    /// Handles an event.
    ///
    /// # Errors
    /// Returns the fault of the controller.
    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault>;

    /// Writes the controller's current limits to `answer`, which contains the defaults of [`Answer`].
    ///
    /// # Errors
    /// Returns the fault of the controller.
    fn control(&self, answer: &mut Answer) -> Result<(), Fault>;

    /// Writes the controller's values for plots.
    ///
    /// # Errors
    /// Returns the fault of the controller.
    fn fields(&self, sink: &mut dyn FieldSink) -> Result<(), Fault>;
}

/// Event of the [`Controller`] trait.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Acknowledgment of packets.
    Ack(&'a Ack<'a>),
    /// Loss of packets.
    Loss(&'a Loss<'a>),
    /// Timeout.
    Timeout(&'a Timeout),
    /// Marked packets.
    Ecn(&'a Ecn),
    /// Transmission of a packet.
    Sent(&'a Sent),
    /// Frame of a live source.
    Frame(&'a Frame),
    /// End of the connection setup, with its duration.
    Established(Time, Span),
    /// Spurious loss: the packets of the last episode were not lost.
    SpuriousLoss(Time),
    /// Expiry of the controller's timer.
    Wake(Time),
    /// End of the loss episode.
    Recovered(Time),
}

impl Event<'_> {
    /// Returns the time of the event.
    #[inline]
    pub const fn now(&self) -> Time {
        match self {
            Self::Ack(event) => event.now,
            Self::Loss(event) => event.now,
            Self::Timeout(event) => event.now,
            Self::Ecn(event) => event.now,
            Self::Sent(event) => event.now,
            Self::Frame(event) => event.now,
            Self::Established(now, _) | Self::SpuriousLoss(now) | Self::Wake(now) | Self::Recovered(now) => {
                *now
            }
        }
    }

    /// Returns the callback of the event.
    #[inline]
    pub const fn callback(&self) -> Callback {
        match self {
            Self::Ack(_) => Callback::OnAck,
            Self::Loss(_) => Callback::OnLoss,
            Self::Timeout(_) => Callback::OnTimeout,
            Self::Ecn(_) => Callback::OnEcn,
            Self::Sent(_) => Callback::OnSent,
            Self::Frame(_) => Callback::OnFrame,
            Self::Established(..) => Callback::OnEstablished,
            Self::SpuriousLoss(_) => Callback::OnSpuriousLoss,
            Self::Wake(_) => Callback::OnWake,
            Self::Recovered(_) => Callback::OnRecovered,
        }
    }
}

/// Limits that a foreign controller sets, unchecked.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Maximum bytes in flight; infinite for no limit. Default: not a number, which means unset.
    pub window_bytes: f64,
    /// Pacing rate, bit/s; infinite (the default) for no pacing.
    pub pacing_bps: f64,
    /// Maximum bytes that leave back to back with pacing. Default: 0.
    pub burst_bytes: u64,
    /// Time of the next timer, ns; `u64::MAX` (the default) for no timer.
    pub wake_at_ns: u64,
    /// Target rate of a live encoder, bit/s; infinite (the default) for a rate derived from window and pacing.
    pub media_bps: f64,
    /// Size of packets without data, bytes; -1 (the default) for no such packets.
    pub filler_bytes: i64,
    /// Maximum waiting time of a frame, ns; `u64::MAX` (the default) for no limit.
    pub max_frame_wait_ns: u64,
    /// True if the controller itself limits the sender. Default: false.
    pub app_limited: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            window_bytes: f64::NAN,
            pacing_bps: f64::INFINITY,
            burst_bytes: 0,
            wake_at_ns: u64::MAX,
            media_bps: f64::INFINITY,
            filler_bytes: -1,
            max_frame_wait_ns: u64::MAX,
            app_limited: false,
        }
    }
}

impl Answer {
    /// Returns true if the answer is a valid window and nothing else. Most controllers answer this to each ACK.
    #[inline]
    fn is_plain_window(&self) -> bool {
        let rest = (self.burst_bytes, self.wake_at_ns, self.filler_bytes, self.max_frame_wait_ns);
        (1.0..=MOST_WINDOW).contains(&self.window_bytes)
            && self.pacing_bps == f64::INFINITY
            && self.media_bps == f64::INFINITY
            && rest == (0, u64::MAX, -1, u64::MAX)
            && !self.app_limited
    }
}

/// Maximum window, bytes: four times TCP's maximum (RFC 7323 2.3).
const MOST_WINDOW: f64 = 4_294_967_296.0;
/// Maximum rate, bit/s.
const MOST_RATE: f64 = 1e12;
/// Minimum time to a timer. A controller with immediate timers would stop the clock of a simulation.
const SHORTEST_SLEEP: Span = Span::from_us(1);

/// Foreign controller behind the [`Controller`] trait.
pub struct Guarded<F> {
    /// Foreign controller; `None` if its creation failed or after its first fault.
    foreign: Option<F>,
    /// One bit for each event that the controller handles.
    hears: u16,
    control: Control,
    mss_bytes: u32,
    place: Arc<Place>,
    watch: Arc<Watch>,
}

impl<F> Debug for Guarded<F> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Guarded").field("place", &self.place).finish_non_exhaustive()
    }
}

const fn bit(callback: Callback) -> u16 {
    1 << callback as u16
}

impl<F: Foreign> Guarded<F> {
    /// Creates a controller with `create`. `label` names it in messages, and `watch` records failures.
    pub fn new(
        label: String,
        watch: &Arc<Watch>,
        start: &Start,
        create: impl FnOnce() -> Result<F, Fault>,
    ) -> Self {
        let place = Place::register(label);
        let mut guarded = Self {
            foreign: None,
            hears: 0,
            control: Control::window(start.initial_window_bytes.max(1)),
            mss_bytes: start.mss_bytes,
            place,
            watch: Arc::clone(watch),
        };
        guarded.place.enter(Callback::Create);
        let mut answer = Answer::default();
        let created = create().map_err(|what| (Callback::Create, what)).and_then(|foreign| {
            guarded.hears = Callback::events().filter(|event| foreign.hears(*event)).map(bit).sum();
            let foreign = guarded.foreign.insert(foreign);
            guarded.place.next(Callback::Control);
            foreign.control(&mut answer).map_err(|what| (Callback::Control, what))
        });
        guarded.place.leave();
        match created {
            Ok(()) => guarded.accept(&answer, start.now, Callback::Control),
            Err((callback, what)) => guarded.fail(callback, what, start.now),
        }
        guarded
    }

    /// Reports an event, reads the controller's limits and applies them. The function is inlined into each caller: the
    /// event's kind is constant there, and the answer need not be moved.
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    #[inline(always)]
    fn tell(&mut self, event: &Event<'_>) {
        let callback = event.callback();
        if !self.hears(callback) {
            return;
        }
        let Some(foreign) = &mut self.foreign else { return };
        self.place.enter(callback);
        let mut answer = Answer::default();
        let told = match foreign.on(event) {
            Ok(()) => {
                self.place.next(Callback::Control);
                foreign.control(&mut answer)
            }
            Err(what) => Err(what),
        };
        self.place.leave();
        match told {
            Ok(()) => self.accept(&answer, event.now(), callback),
            Err(what) => self.fail(callback, what, event.now()),
        }
    }

    /// Reports a transmission, which few controllers handle.
    #[inline(never)]
    fn tell_sent(&mut self, event: &Sent) {
        self.tell(&Event::Sent(event));
    }

    /// Reports an event that does not occur with every packet.
    #[inline(never)]
    fn tell_rarely(&mut self, event: &Event<'_>) {
        self.tell(event);
    }

    /// Applies the answer if all its limits are valid.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn accept(&mut self, answer: &Answer, now: Time, callback: Callback) {
        if answer.is_plain_window() {
            self.control = Control::window(answer.window_bytes as u64);
        } else {
            // A copy without an address can stay in registers.
            self.accept_all(*answer, now, callback);
        }
    }

    #[inline(never)]
    fn accept_all(&mut self, answer: Answer, now: Time, callback: Callback) {
        match self.checked(&answer, now) {
            Some(control) => self.control = control,
            None => self.fail(callback, self.objection(&answer), now),
        }
    }

    /// Returns the limits if all of them are valid.
    #[inline]
    fn checked(&self, answer: &Answer, now: Time) -> Option<Control> {
        let rate = |bps: f64| {
            if bps == f64::INFINITY {
                Some(None)
            } else {
                (1.0..=MOST_RATE).contains(&bps).then(|| Some(Rate::from_bps_f64(bps)))
            }
        };
        let pacing = rate(answer.pacing_bps)?;
        let window_bytes = if answer.window_bytes == f64::INFINITY {
            pacing.map(|_| u64::MAX)?
        } else {
            (1.0..=MOST_WINDOW).contains(&answer.window_bytes).then_some(answer.window_bytes as u64)?
        };
        let filler_bytes = match answer.filler_bytes {
            -1 => None,
            bytes => Some(u32::try_from(bytes).ok().filter(|bytes| *bytes <= self.mss_bytes)?),
        };
        let wake_at = Time::from_ns(answer.wake_at_ns);
        // A timer that was requested before and has not fired may be overdue, since timers are late with real packets.
        let is_pending = wake_at == self.control.wake_at;
        if wake_at < now + SHORTEST_SLEEP && !is_pending {
            return None;
        }
        let media_rate = rate(answer.media_bps)?;
        Some(Control {
            window_bytes,
            pacing,
            burst_bytes: answer.burst_bytes,
            wake_at,
            media_rate,
            filler_bytes,
            max_frame_wait: (answer.max_frame_wait_ns != u64::MAX)
                .then(|| Span::from_ns(answer.max_frame_wait_ns)),
            app_limited: answer.app_limited,
        })
    }

    /// Returns the problem of an answer.
    #[cold]
    fn objection(&self, answer: &Answer) -> String {
        let is_rate = |bps: f64| bps == f64::INFINITY || (1.0..=MOST_RATE).contains(&bps);
        let window = answer.window_bytes;
        let what = if !is_rate(answer.pacing_bps) {
            format!("allows a pacing rate of {} bit/s: allowed is 1 to 10^12, or infinity", answer.pacing_bps)
        } else if window == f64::INFINITY {
            "allows an infinite window without pacing: one of the two has to be limited".to_owned()
        } else if !(1.0..=MOST_WINDOW).contains(&window) {
            let window = if window.abs() < 1e15 { window.to_string() } else { format!("{window:e}") };
            format!("allows a window of {window} bytes: allowed is 1 to 2^32, or infinity with pacing")
        } else if !is_rate(answer.media_bps) {
            format!("allows a media rate of {} bit/s: allowed is 1 to 10^12, or infinity", answer.media_bps)
        } else if answer.filler_bytes < -1 || answer.filler_bytes > i64::from(self.mss_bytes) {
            let bytes = answer.filler_bytes;
            format!("asks for fillers of {bytes} bytes: allowed is 0 to {}, or -1 for none", self.mss_bytes)
        } else {
            let seconds = Time::from_ns(answer.wake_at_ns).as_secs_f64();
            format!("asks to be woken at {seconds:.6} s: allowed is 1 us from now or later, or never")
        };
        format!("was followed by a control that {what}")
    }

    /// Records a fault. The controller is not called again.
    #[cold]
    fn fail(&mut self, callback: Callback, what: impl Display, now: Time) {
        let (label, name) = (self.place.label(), callback.name());
        self.watch.fail(format!("{label}: {name} {what} (at {:.6} s)", now.as_secs_f64()));
        self.hears = 0;
        self.control.wake_at = Time::NEVER;
        self.end();
    }
}

impl<F> Guarded<F> {
    #[inline]
    const fn hears(&self, callback: Callback) -> bool {
        self.hears & bit(callback) != 0
    }

    fn end(&mut self) {
        if let Some(foreign) = self.foreign.take() {
            self.place.enter(Callback::Destroy);
            drop(foreign);
            self.place.leave();
        }
    }
}

impl<F> Drop for Guarded<F> {
    fn drop(&mut self) {
        self.end();
        Place::unregister(&self.place);
    }
}

impl<F: Foreign> Controller for Guarded<F> {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.tell_rarely(&Event::Established(now, rtt));
    }

    fn on_sent(&mut self, event: &Sent) {
        if self.hears(Callback::OnSent) {
            self.tell_sent(event);
        }
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        self.tell(&Event::Ack(event));
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        self.tell_rarely(&Event::Loss(event));
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.tell_rarely(&Event::Timeout(event));
    }

    fn on_ecn(&mut self, event: &Ecn) {
        self.tell_rarely(&Event::Ecn(event));
    }

    fn on_spurious_loss(&mut self, now: Time) {
        self.tell_rarely(&Event::SpuriousLoss(now));
    }

    fn on_wake(&mut self, now: Time) {
        // The timer has fired, even if the controller does not handle it.
        self.control.wake_at = Time::NEVER;
        self.tell_rarely(&Event::Wake(now));
    }

    fn on_recovered(&mut self, now: Time) {
        self.tell_rarely(&Event::Recovered(now));
    }

    fn on_frame(&mut self, event: &Frame) {
        self.tell_rarely(&Event::Frame(event));
    }

    fn control(&self) -> Control {
        self.control
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let Some(foreign) = &self.foreign else { return };
        self.place.enter(Callback::Fields);
        let written = foreign.fields(sink);
        self.place.leave();
        if let Err(what) = written {
            self.watch.fail(format!("{}: fields {what}", self.place.label()));
        }
    }
}

#[cfg(test)]
mod tests;
