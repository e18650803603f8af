//! Which threads of a run the scheduler prefers.
#![allow(unsafe_code, reason = "system calls on numbers and on structures that outlive them")]

/// Who goes first among the threads of an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Programs: one that spins keeps nobody else of the run from its work.
    Program = 1,
    /// Our own ends of flows.
    End = 2,
    /// The path between them, and who watches over programs.
    Path = 3,
}

/// Most processor time that a task of a program may take at its priority without ever waiting, s: then the kernel ends it.
/// It is for when nobody is left who would have lowered it before.
const SPIN_LIMIT_S: u64 = 10;
/// What a program without priority has over ordinary ones.
const NICE: libc::c_int = -20;

fn schedule(task: libc::pid_t, policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure outlives the call.
    unsafe { libc::sched_setscheduler(task, policy, &raw const parameters) == 0 }
}

/// Gives the first place among ordinary ones to a program that is about to take the calling process's place, and to all that it
/// starts: [`set_punctual`] gives it priority once it rests. Where one has priority that never rests, the kernel itself waits
/// for as long as it lets that be (`/proc/sys/kernel/sched_rt_runtime_us`), and whoever starts another program too. Nothing
/// changes without privilege. Makes system calls only: may be called between fork and exec.
pub fn be_foremost_as_program() {
    let limit = SPIN_LIMIT_S * 1_000_000;
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: numbers, and a structure that outlives the call.
    unsafe {
        if libc::setpriority(libc::PRIO_PROCESS, 0, NICE) == 0 {
            libc::setrlimit(libc::RLIMIT_RTTIME, &raw const limit);
        }
    }
}

/// Gives priority to `task`, a thread of a program, in turn with the others of programs; or takes it away: then it has the first
/// place among ordinary ones, as at the beginning. One that has chosen another priority itself is left alone.
pub fn set_punctual(task: i32, punctual: bool) {
    let who = task.unsigned_abs();
    // SAFETY: these take numbers only.
    unsafe {
        match libc::sched_getscheduler(task) {
            libc::SCHED_RR if !punctual => {
                schedule(task, libc::SCHED_OTHER, 0);
                libc::setpriority(libc::PRIO_PROCESS, who, NICE);
            }
            // What was lowered is known by its place, which its threads and children have from it.
            libc::SCHED_OTHER if punctual && libc::getpriority(libc::PRIO_PROCESS, who) == NICE => {
                schedule(task, libc::SCHED_RR, Urgency::Program as libc::c_int);
            }
            _ => {}
        }
    }
}

/// The calling thread has another priority until this is dropped. A thread drops it before it ends: see
/// [`Scheduled::unhurried`].
#[derive(Debug)]
#[must_use = "the priority lasts until this is dropped"]
pub struct Scheduled {
    /// Policy and priority before.
    before: (libc::c_int, libc::c_int),
    is_granted: bool,
}

impl Scheduled {
    /// The thread runs as soon as it has something to do, and its timers are exact. The threads of a run sleep most of the
    /// time, so this costs others little, and keeps a run punctual on a machine that does something else as well.
    pub fn punctual(urgency: Urgency) -> Self {
        // SAFETY: takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        Self::set(libc::SCHED_FIFO, urgency as libc::c_int)
    }

    /// The thread has the priority of the path; threads and processes that it starts have none.
    pub fn watchful() -> Self {
        Self::set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, Urgency::Path as libc::c_int)
    }

    /// The thread has no priority: for taking down processes and threads. The kernel takes down their entries below `/proc`
    /// then. Where another task does so too, the kernel tries again until that one is done (Linux v6.12, fs/dcache.c,
    /// `shrink_dcache_parent`): a task with priority that does so on the processor of a task with less of it tries for ever.
    pub fn unhurried() -> Self {
        Self::set(libc::SCHED_OTHER, 0)
    }

    /// Whether the scheduler agreed, which takes privilege.
    pub const fn is_granted(&self) -> bool {
        self.is_granted
    }

    fn set(policy: libc::c_int, priority: libc::c_int) -> Self {
        let mut parameters = libc::sched_param { sched_priority: 0 };
        // SAFETY: the structure outlives the call.
        let before = unsafe {
            libc::sched_getparam(0, &raw mut parameters);
            libc::sched_getscheduler(0)
        };
        let is_granted = schedule(0, policy, priority);
        Self { before: (before, parameters.sched_priority), is_granted }
    }
}

impl Drop for Scheduled {
    fn drop(&mut self) {
        let (policy, priority) = self.before;
        schedule(0, policy, priority);
    }
}
