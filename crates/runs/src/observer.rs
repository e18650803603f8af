//! Observers of a run in progress.

use measure::{FrameDelivery, Read, RunMeter, Sample};
use record::Record;
use units::Time;

/// Observer of a run with any driver. Methods without implementation do nothing.
///
/// A tuple combines two or three observers, an `Option` makes an observer optional.
///
/// Each kind of event comes in order of time. A simulation reports everything as it happens. An emulated run reports
/// records and samples after its end, and then the values of flows and links.
pub trait Observer {
    /// Reports a packet event.
    fn record(&mut self, record: &Record) {
        let _ = record;
    }

    /// Reports a read of an application.
    fn read(&mut self, read: &Read) {
        let _ = read;
    }

    /// Reports that the receiver decoded a frame of a live source.
    fn frame(&mut self, frame: &FrameDelivery) {
        let _ = frame;
    }

    /// Reports the end of a sample interval, before any event at that time.
    fn sample(&mut self, sample: &Sample<'_>) {
        let _ = sample;
    }

    /// Returns true if the observer needs values of flows and links. Otherwise they are not computed.
    fn wants_values(&self) -> bool {
        false
    }

    /// Reports a value of the state of flow `flow` (from 1).
    ///
    /// It comes at the end of a sample interval just before [`sample`](Self::sample), when a frame was decoded, and
    /// in full logs at every change.
    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        let _ = (at, flow, field, unit, value);
    }

    /// Reports a value of the state of a link (`data/bottleneck`, ...) at the end of a sample interval, just before
    /// [`sample`](Self::sample).
    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        let _ = (at, link, field, unit, value);
    }

    /// Returns a reason to end the run early, or `None`. Called now and then. The run then fails with this reason.
    fn stop(&self) -> Option<String> {
        None
    }
}

/// Methods of an observer that passes everything on to its parts, in order.
macro_rules! pass_on {
    ($self:ident: $($part:expr),+) => {
        #[inline]
        fn record(&mut $self, record: &Record) {
            $($part.record(record);)+
        }

        #[inline]
        fn read(&mut $self, read: &Read) {
            $($part.read(read);)+
        }

        fn frame(&mut $self, frame: &FrameDelivery) {
            $($part.frame(frame);)+
        }

        fn sample(&mut $self, sample: &Sample<'_>) {
            $($part.sample(sample);)+
        }

        fn wants_values(&$self) -> bool {
            $($part.wants_values())||+
        }

        fn flow_value(&mut $self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
            $($part.flow_value(at, flow, field, unit, value);)+
        }

        fn link_value(&mut $self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
            $($part.link_value(at, link, field, unit, value);)+
        }

        fn stop(&$self) -> Option<String> {
            None$(.or_else(|| $part.stop()))+
        }
    };
}

impl<A: Observer + ?Sized> Observer for &mut A {
    pass_on!(self: (**self));
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    pass_on!(self: self.0, self.1);
}

impl<A: Observer, B: Observer, C: Observer> Observer for (A, B, C) {
    pass_on!(self: self.0, self.1, self.2);
}

/// Optional observer.
impl<A: Observer> Observer for Option<A> {
    #[inline]
    fn record(&mut self, record: &Record) {
        if let Some(one) = self {
            one.record(record);
        }
    }

    #[inline]
    fn read(&mut self, read: &Read) {
        if let Some(one) = self {
            one.read(read);
        }
    }

    fn frame(&mut self, frame: &FrameDelivery) {
        if let Some(one) = self {
            one.frame(frame);
        }
    }

    fn sample(&mut self, sample: &Sample<'_>) {
        if let Some(one) = self {
            one.sample(sample);
        }
    }

    fn wants_values(&self) -> bool {
        self.as_ref().is_some_and(A::wants_values)
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        if let Some(one) = self {
            one.flow_value(at, flow, field, unit, value);
        }
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        if let Some(one) = self {
            one.link_value(at, link, field, unit, value);
        }
    }

    fn stop(&self) -> Option<String> {
        self.as_ref().and_then(A::stop)
    }
}

/// The meter observes the events that metrics are made of.
impl Observer for RunMeter {
    #[inline]
    fn record(&mut self, record: &Record) {
        Self::record(self, record);
    }

    #[inline]
    fn read(&mut self, read: &Read) {
        Self::read(self, read);
    }

    fn frame(&mut self, frame: &FrameDelivery) {
        Self::frame(self, frame);
    }

    fn sample(&mut self, sample: &Sample<'_>) {
        Self::sample(self, sample);
    }
}

/// Observer that ends the run if its function returns true.
#[derive(Debug)]
pub struct StopWhen<F>(pub F);

impl<F: Fn() -> bool> Observer for StopWhen<F> {
    fn stop(&self) -> Option<String> {
        self.0().then(|| "stopped".to_owned())
    }
}
