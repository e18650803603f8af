//! Structures of `include/dumbbell.h`, which explains them. A test compares every offset with the C compiler's.

#![allow(clippy::struct_field_names, reason = "the names are those of the header")]

use congestion::AckedPacket;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, offset_of, size_of};

/// Version of the interface: `DUMBBELL_INTERFACE`.
pub(crate) const VERSION: u32 = 1;
/// Value of an infinite time or an unknown duration: `DUMBBELL_NONE`.
pub(crate) const NONE: u64 = u64::MAX;
/// Maximum number of fields: `DUMBBELL_MOST_FIELDS`.
pub(crate) const MOST_FIELDS: usize = 64;

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) number: u64,
    pub(crate) sent_at_ns: u64,
    pub(crate) received_at_ns: u64,
    pub(crate) lost_at_send_bytes: u64,
    pub(crate) in_flight_at_send_bytes: u64,
    pub(crate) bytes: u32,
    pub(crate) retransmission: bool,
    pub(crate) was_lost: bool,
    pub(crate) ce: bool,
}

// An event's packets are passed from the transport without copying, so the layouts must agree.
const _: () = assert!(
    size_of::<Packet>() == size_of::<AckedPacket>()
        && align_of::<Packet>() == align_of::<AckedPacket>()
        && offset_of!(Packet, number) == offset_of!(AckedPacket, number)
        && offset_of!(Packet, sent_at_ns) == offset_of!(AckedPacket, sent_at)
        && offset_of!(Packet, received_at_ns) == offset_of!(AckedPacket, received_at)
        && offset_of!(Packet, lost_at_send_bytes) == offset_of!(AckedPacket, lost_at_send_bytes)
        && offset_of!(Packet, in_flight_at_send_bytes) == offset_of!(AckedPacket, in_flight_at_send_bytes)
        && offset_of!(Packet, bytes) == offset_of!(AckedPacket, bytes)
        && offset_of!(Packet, retransmission) == offset_of!(AckedPacket, retransmission)
        && offset_of!(Packet, was_lost) == offset_of!(AckedPacket, was_lost)
        && offset_of!(Packet, ce) == offset_of!(AckedPacket, ce)
);

#[repr(C)]
pub(crate) struct Ack {
    pub(crate) now_ns: u64,
    pub(crate) packets: *const Packet,
    pub(crate) packet_count: usize,
    pub(crate) acked_bytes: u64,
    pub(crate) growth_bytes: u64,
    pub(crate) lost_bytes: u64,
    pub(crate) rtt_ns: u64,
    pub(crate) srtt_ns: u64,
    pub(crate) rttvar_ns: u64,
    pub(crate) min_rtt_ns: u64,
    pub(crate) ack_delay_ns: u64,
    pub(crate) in_flight_before_bytes: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) peak_in_flight_bytes: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) next_number: u64,
    pub(crate) queued_bytes: u64,
    pub(crate) queue_delay_ns: u64,
    pub(crate) rate_bps: u64,
    pub(crate) rate_delivered_bytes: u64,
    pub(crate) rate_interval_ns: u64,
    pub(crate) rate_prior_delivered_bytes: u64,
    pub(crate) rate_lost_bytes: u64,
    pub(crate) rate_in_flight_at_send_bytes: u64,
    pub(crate) rate_valid: bool,
    pub(crate) rate_app_limited: bool,
    pub(crate) window_limited: bool,
    pub(crate) app_limited: bool,
    pub(crate) round_start: bool,
    pub(crate) in_recovery: bool,
    pub(crate) complete_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) pacing_limited: bool,
    pub(crate) lost: *const Packet,
    pub(crate) lost_count: usize,
    pub(crate) lost_new_episode: bool,
}

#[repr(C)]
pub(crate) struct Loss {
    pub(crate) now_ns: u64,
    pub(crate) packets: *const Packet,
    pub(crate) packet_count: usize,
    pub(crate) lost_bytes: u64,
    pub(crate) in_flight_before_bytes: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) srtt_ns: u64,
    pub(crate) next_number: u64,
    pub(crate) new_episode: bool,
    pub(crate) by_ack: bool,
}

/// Kind of a retransmission timeout: `DUMBBELL_RTO`.
pub(crate) const RTO: u32 = 0;
/// Kind of persistent congestion: `DUMBBELL_PERSISTENT_CONGESTION`.
pub(crate) const PERSISTENT_CONGESTION: u32 = 1;

#[repr(C)]
pub(crate) struct Timeout {
    pub(crate) now_ns: u64,
    pub(crate) in_flight_before_bytes: u64,
    pub(crate) next_number: u64,
    pub(crate) kind: u32,
    pub(crate) repeated: bool,
}

#[repr(C)]
pub(crate) struct Sent {
    pub(crate) now_ns: u64,
    pub(crate) number: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) bytes: u32,
    pub(crate) retransmission: bool,
    pub(crate) filler: bool,
    pub(crate) frame: u32,
    pub(crate) frame_end: bool,
    pub(crate) idle_timeouts: u32,
}

#[repr(C)]
pub(crate) struct Ecn {
    pub(crate) now_ns: u64,
    pub(crate) ce_packets: u64,
    pub(crate) packets: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) srtt_ns: u64,
    pub(crate) new_episode: bool,
    pub(crate) newest_sent_at_ns: u64,
}

#[repr(C)]
pub(crate) struct Frame {
    pub(crate) now_ns: u64,
    pub(crate) bytes: u64,
    pub(crate) queued_bytes: u64,
    pub(crate) queue_delay_ns: u64,
    pub(crate) key: bool,
    pub(crate) number: u32,
}

#[repr(C)]
pub(crate) struct Control {
    pub(crate) window_bytes: f64,
    pub(crate) pacing_bps: f64,
    pub(crate) burst_bytes: u64,
    pub(crate) wake_at_ns: u64,
    pub(crate) media_bps: f64,
    pub(crate) filler_bytes: i64,
    pub(crate) failure: *const c_char,
    pub(crate) max_frame_wait_ns: u64,
    pub(crate) app_limited: bool,
}

/// Parameter kinds: `DUMBBELL_NUMBER` and the following constants.
pub(crate) const KIND_NUMBER: u32 = 0;
pub(crate) const KIND_INTEGER: u32 = 1;
pub(crate) const KIND_FLAG: u32 = 2;
pub(crate) const KIND_CHOICE: u32 = 3;
pub(crate) const KIND_FILE: u32 = 4;

#[repr(C)]
pub(crate) struct Parameter {
    pub(crate) name: *const c_char,
    pub(crate) unit: *const c_char,
    pub(crate) help: *const c_char,
    pub(crate) kind: u32,
    pub(crate) preset: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) choices: *const *const c_char,
}

#[repr(C)]
pub(crate) struct Value {
    pub(crate) number: f64,
    pub(crate) text: *const c_char,
    pub(crate) contents: *const u8,
    pub(crate) length: usize,
}

#[repr(C)]
pub(crate) struct Field {
    pub(crate) name: *const c_char,
    pub(crate) unit: *const c_char,
}

#[repr(C)]
pub(crate) struct Start {
    pub(crate) now_ns: u64,
    pub(crate) initial_window_bytes: u64,
    pub(crate) seed: u64,
    pub(crate) mss_bytes: u32,
}

/// Function that creates the state of a flow.
pub(crate) type Create =
    unsafe extern "C" fn(*const Controller, *const Start, *const Value, *mut *const c_char) -> *mut c_void;
/// Function that handles an event.
pub(crate) type Happened<Event> = unsafe extern "C" fn(*mut c_void, *const Event);
/// Function that handles an event with only a time.
pub(crate) type HappenedAt = unsafe extern "C" fn(*mut c_void, u64);

#[repr(C)]
pub(crate) struct Controller {
    pub(crate) name: *const c_char,
    pub(crate) summary: *const c_char,
    pub(crate) parameters: *const Parameter,
    pub(crate) parameter_count: usize,
    pub(crate) field_list: *const Field,
    pub(crate) field_count: usize,
    pub(crate) create: Option<Create>,
    pub(crate) destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) on_ack: Option<Happened<Ack>>,
    pub(crate) control: Option<unsafe extern "C" fn(*const c_void, *mut Control)>,
    pub(crate) fields: Option<unsafe extern "C" fn(*const c_void, *mut f64)>,
    pub(crate) on_loss: Option<Happened<Loss>>,
    pub(crate) on_timeout: Option<Happened<Timeout>>,
    pub(crate) on_ecn: Option<Happened<Ecn>>,
    pub(crate) on_sent: Option<Happened<Sent>>,
    pub(crate) on_frame: Option<Happened<Frame>>,
    pub(crate) on_established: Option<unsafe extern "C" fn(*mut c_void, u64, u64)>,
    pub(crate) on_spurious_loss: Option<HappenedAt>,
    pub(crate) on_wake: Option<HappenedAt>,
    pub(crate) on_recovered: Option<HappenedAt>,
    pub(crate) losses_with_ack: bool,
}

/// Declaration of a library.
#[repr(C)]
pub struct Plugin {
    pub(crate) interface_version: u32,
    pub(crate) plugin_size: u32,
    pub(crate) controller_size: u32,
    pub(crate) parameter_size: u32,
    pub(crate) field_size: u32,
    pub(crate) value_size: u32,
    pub(crate) start_size: u32,
    pub(crate) control_size: u32,
    pub(crate) packet_size: u32,
    pub(crate) ack_size: u32,
    pub(crate) loss_size: u32,
    pub(crate) timeout_size: u32,
    pub(crate) ecn_size: u32,
    pub(crate) sent_size: u32,
    pub(crate) frame_size: u32,
    pub(crate) controllers: *const *const Controller,
    pub(crate) controller_count: usize,
}

/// Function that a library exports.
pub(crate) type Entrance = unsafe extern "C" fn() -> *const Plugin;
/// Name of this function.
pub(crate) const ENTRANCE: &core::ffi::CStr = c"dumbbell_plugin";

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use std::process::Command;

    /// Returns the lines `structure field offset` of the Rust structures, and the C program that prints those of the
    /// header.
    macro_rules! layouts {
        ($($c:ident $rust:ident { $($field:ident),* $(,)? })*) => {{
            let (mut ours, mut program) = (String::new(), String::from("#include \"dumbbell.h\"\n#include <stdio.h>\nint main(void) {\n"));
            $(
                writeln!(ours, "{} size {}", stringify!($c), size_of::<$rust>()).unwrap();
                writeln!(program, "printf(\"{0} size %zu\\n\", sizeof(struct {0}));", stringify!($c)).unwrap();
                $(
                    writeln!(ours, "{} {} {}", stringify!($c), stringify!($field), offset_of!($rust, $field)).unwrap();
                    writeln!(program, "printf(\"{0} {1} %zu\\n\", offsetof(struct {0}, {1}));", stringify!($c), stringify!($field)).unwrap();
                )*
            )*
            program.push_str("return 0; }\n");
            (ours, program)
        }};
    }

    #[test]
    fn every_structure_is_laid_out_as_the_c_compiler_lays_out_the_header() {
        let (ours, program) = layouts! {
            dumbbell_packet Packet { number, sent_at_ns, received_at_ns, lost_at_send_bytes, in_flight_at_send_bytes, bytes,
                retransmission, was_lost, ce }
            dumbbell_ack Ack { now_ns, packets, packet_count, acked_bytes, growth_bytes, lost_bytes, rtt_ns, srtt_ns,
                rttvar_ns, min_rtt_ns, ack_delay_ns, in_flight_before_bytes, in_flight_bytes, peak_in_flight_bytes,
                delivered_bytes, next_number, queued_bytes, queue_delay_ns, rate_bps, rate_delivered_bytes,
                rate_interval_ns, rate_prior_delivered_bytes, rate_lost_bytes, rate_in_flight_at_send_bytes, rate_valid,
                rate_app_limited, window_limited, app_limited, round_start, in_recovery, complete_bytes, sent_bytes,
                pacing_limited, lost, lost_count, lost_new_episode }
            dumbbell_loss Loss { now_ns, packets, packet_count, lost_bytes, in_flight_before_bytes, in_flight_bytes, srtt_ns,
                next_number, new_episode, by_ack }
            dumbbell_timeout Timeout { now_ns, in_flight_before_bytes, next_number, kind, repeated }
            dumbbell_sent Sent { now_ns, number, in_flight_bytes, bytes, retransmission, filler, frame, frame_end,
                idle_timeouts }
            dumbbell_ecn Ecn { now_ns, ce_packets, packets, in_flight_bytes, srtt_ns, new_episode, newest_sent_at_ns }
            dumbbell_frame Frame { now_ns, bytes, queued_bytes, queue_delay_ns, key, number }
            dumbbell_control Control { window_bytes, pacing_bps, burst_bytes, wake_at_ns, media_bps, filler_bytes, failure,
                max_frame_wait_ns, app_limited }
            dumbbell_parameter Parameter { name, unit, help, kind, preset, least, most, choices }
            dumbbell_value Value { number, text, contents, length }
            dumbbell_field Field { name, unit }
            dumbbell_start Start { now_ns, initial_window_bytes, seed, mss_bytes }
            dumbbell_controller Controller { name, summary, parameters, parameter_count, field_list, field_count, create,
                destroy, on_ack, control, fields, on_loss, on_timeout, on_ecn, on_sent, on_frame, on_established,
                on_spurious_loss, on_wake, on_recovered, losses_with_ack }
            dumbbell_plugin Plugin { interface_version, plugin_size, controller_size, parameter_size, field_size, value_size,
                start_size, control_size, packet_size, ack_size, loss_size, timeout_size, ecn_size, sent_size, frame_size,
                controllers, controller_count }
        };
        let scratch = std::env::temp_dir().join(format!("dumbbell-layout-{}", std::process::id()));
        let (source, binary) = (scratch.with_extension("c"), scratch.with_extension("bin"));
        #[expect(clippy::disallowed_methods, reason = "a program for the compiler")]
        std::fs::write(&source, program).unwrap();
        let mut compiler = Command::new("cc");
        compiler
            .args(["-std=c11", "-Wall", "-Werror", "-I"])
            .arg("include")
            .arg(&source)
            .arg("-o")
            .arg(&binary);
        assert!(compiler.status().expect("a C compiler").success());
        let theirs = Command::new(&binary).output().unwrap().stdout;
        for file in [source, binary] {
            std::fs::remove_file(file).unwrap();
        }
        assert_eq!(String::from_utf8(theirs).unwrap(), ours);
    }
}
