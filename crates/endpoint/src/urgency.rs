//! Which threads of a run the scheduler prefers.
#![allow(
    unsafe_code,
    reason = "two system calls on the calling thread; the structure they read outlives them"
)]

/// Who goes first among the threads of an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// The ends of flows.
    End = 1,
    /// The path between them.
    Path = 2,
}

/// Asks the scheduler to let the calling thread run as soon as it has something to do, and timers to be exact; returns
/// whether the scheduler agreed, which takes privilege. The threads of a run sleep most of the time, so this costs others
/// little, and keeps a run punctual on a machine that does something else as well.
pub fn be_punctual(urgency: Urgency) -> bool {
    let parameters = libc::sched_param { sched_priority: urgency as libc::c_int };
    // SAFETY: zero names the calling thread; the structure outlives the call; the other call takes numbers only.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0
    }
}
