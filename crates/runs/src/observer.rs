//! What a run tells while it goes, and to whom.

use measure::{FrameDelivery, Read, RunMeter, Sample};
use record::Record;
use units::Time;

/// Is told what happens in a run, whichever driver carries it out. A method that is left out does nothing. Two or three
/// observers side by side are a tuple, one that may be absent is an `Option`.
///
/// Each kind of event comes in order of time. A simulation tells everything as it happens; an emulated run tells its
/// records and samples once it is over, and the values of flows and links after those.
pub trait Observer {
    /// One packet event.
    fn record(&mut self, record: &Record) {
        let _ = record;
    }

    /// An application read.
    fn read(&mut self, read: &Read) {
        let _ = read;
    }

    /// A frame of a live source was decoded at its receiver.
    fn frame(&mut self, frame: &FrameDelivery) {
        let _ = frame;
    }

    /// A sample interval ends, before anything that happens at its end.
    fn sample(&mut self, sample: &Sample<'_>) {
        let _ = sample;
    }

    /// Whether values of flows and links are wanted: nobody works them out otherwise.
    fn wants_values(&self) -> bool {
        false
    }

    /// A value of the state of flow number `flow` (from 1): at the end of a sample interval just before
    /// [`sample`](Self::sample), when a frame was decoded, and in full logs whenever it has changed.
    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        let _ = (at, flow, field, unit, value);
    }

    /// A value of the state of a link (`data/bottleneck`, ...) at the end of a sample interval, just before
    /// [`sample`](Self::sample).
    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        let _ = (at, link, field, unit, value);
    }

    /// Asked now and then: why the run should end early, if it should. The run then fails with that line.
    fn stop(&self) -> Option<String> {
        None
    }
}

/// An observer that passes everything on to its parts, in their order.
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

/// One that may be absent.
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

/// The meter takes in what metrics are made of.
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

/// Ends the run when its function says so.
#[derive(Debug)]
pub struct StopWhen<F>(pub F);

impl<F: Fn() -> bool> Observer for StopWhen<F> {
    fn stop(&self) -> Option<String> {
        self.0().then(|| "stopped".to_owned())
    }
}
