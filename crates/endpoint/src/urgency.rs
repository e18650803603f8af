//! Scheduling priorities of a run's threads.
#![allow(unsafe_code, reason = "system calls on numbers and on structures that outlive them")]

/// Priority among the threads of an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Programs. A spinning program must not stop other threads of the run.
    Program = 1,
    /// Ends of flows in the built-in transport.
    End = 2,
    /// Path between the ends, and the supervision of programs.
    Path = 3,
}

/// Maximum CPU time of a program's task with priority without a wait, s. The kernel then ends the task. This limit
/// applies if no process is left to lower the priority.
const SPIN_LIMIT_S: u64 = 10;
/// Nice value of a program without real-time priority.
const NICE: libc::c_int = -20;

fn schedule(task: libc::pid_t, policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure outlives the call.
    unsafe { libc::sched_setscheduler(task, policy, &raw const parameters) == 0 }
}

/// Gives the best nice value to a program that is about to replace the calling process, and to its children.
///
/// [`set_punctual`] gives real-time priority once the program rests. If a spinning task has real-time priority, the
/// kernel itself waits for its limit (`/proc/sys/kernel/sched_rt_runtime_us`), and so does the start of another
/// program. Nothing changes without privilege. The function only makes system calls, so it may run between fork and
/// exec.
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

/// Gives real-time priority to `task`, a thread of a program, in turns with other programs' threads, or removes it.
/// Without this priority the task has the best nice value, as at the start. A task that has chosen another priority is
/// left alone.
pub fn set_punctual(task: i32, punctual: bool) {
    let who = task.unsigned_abs();
    // SAFETY: these take numbers only.
    unsafe {
        match libc::sched_getscheduler(task) {
            libc::SCHED_RR if !punctual => {
                schedule(task, libc::SCHED_OTHER, 0);
                libc::setpriority(libc::PRIO_PROCESS, who, NICE);
            }
            // The nice value identifies tasks with removed priority. Their threads and children inherit it.
            libc::SCHED_OTHER if punctual && libc::getpriority(libc::PRIO_PROCESS, who) == NICE => {
                schedule(task, libc::SCHED_RR, Urgency::Program as libc::c_int);
            }
            _ => {}
        }
    }
}

/// Guard that gives the calling thread another priority until it is dropped. A thread must drop it before it ends (see
/// [`Scheduled::unhurried`]).
#[derive(Debug)]
#[must_use = "the priority lasts until this is dropped"]
pub struct Scheduled {
    /// Previous policy and priority.
    before: (libc::c_int, libc::c_int),
    is_granted: bool,
}

impl Scheduled {
    /// Runs the thread as soon as it has something to do, with exact timers. The threads of a run mostly sleep, so the
    /// priority costs other processes little. It keeps a run punctual on a machine with other work.
    pub fn punctual(urgency: Urgency) -> Self {
        // SAFETY: takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        Self::set(libc::SCHED_FIFO, urgency as libc::c_int)
    }

    /// Gives the thread the priority of the path. Threads and processes that it starts have no priority.
    pub fn watchful() -> Self {
        Self::set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, Urgency::Path as libc::c_int)
    }

    /// Removes the priority of the thread, to end processes and threads. The kernel then removes their entries below
    /// `/proc`. If another task does this at the same time, the kernel retries until that task is done (Linux v6.12,
    /// fs/dcache.c, `shrink_dcache_parent`). A task with priority on the CPU of a task with lower priority would retry
    /// forever.
    pub fn unhurried() -> Self {
        Self::set(libc::SCHED_OTHER, 0)
    }

    /// Returns true if the scheduler granted the priority, which takes privilege.
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
