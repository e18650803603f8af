//! Schedule of the actors' next actions.

use units::Time;

/// Index of an actor.
pub(crate) type Actor = u32;

/// Number of busy actors, which act all the time: the two directions of the path. They have the lowest indexes.
pub(crate) const BUSY: usize = 2;

/// Actors ordered by the time of their next event; ties go to the lower index, so the order is deterministic.
///
/// The busy actors are kept apart, the others in an indexed binary heap. Most actions are postponed repeatedly, such as
/// retransmission timers with every ACK. So an entry of the heap is a lower bound: its actor acts then or later. An
/// entry moves only when it comes first, or when its actor must act earlier.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    busy: [Time; BUSY],
    /// Time and actor together, so that a comparison touches one place in memory.
    heap: Vec<(Time, Actor)>,
    /// Next actions by actor, without the busy actors.
    actions: Vec<NextAction>,
}

/// Next action of one actor.
#[derive(Clone, Copy, Debug)]
struct NextAction {
    /// Time of the action.
    time: Time,
    /// Time of the actor's entry in the heap, and its position.
    bound: Time,
    position: u32,
}

impl Schedule {
    /// Returns a schedule of `actors` actors without actions, including the busy actors.
    pub(crate) fn new(actors: usize) -> Self {
        let heap_actors = BUSY..actors.max(BUSY + 1);
        let action = |position| NextAction { time: Time::NEVER, bound: Time::NEVER, position };
        Self {
            busy: [Time::NEVER; BUSY],
            heap: heap_actors.clone().map(|actor| (Time::NEVER, actor as Actor)).collect(),
            actions: (0..heap_actors.len() as u32).map(action).collect(),
        }
    }

    /// Returns the next event.
    #[inline]
    pub(crate) fn first(&mut self) -> (Time, Actor) {
        let [zero, one] = self.busy;
        let busy = if zero <= one { (zero, 0) } else { (one, 1) };
        loop {
            let (bound, actor) = self.heap[0];
            if bound >= busy.0 {
                return busy;
            }
            let action = &mut self.actions[actor as usize - BUSY];
            if action.time == bound {
                return (bound, actor);
            }
            action.bound = action.time;
            let entry = (action.time, actor);
            self.sink(0, entry);
        }
    }

    /// Replaces the next action of `actor`.
    #[inline]
    pub(crate) fn set(&mut self, actor: Actor, time: Time) {
        if let Some(busy) = self.busy.get_mut(actor as usize) {
            *busy = time;
            return;
        }
        let action = &mut self.actions[actor as usize - BUSY];
        action.time = time;
        if time < action.bound {
            action.bound = time;
            let position = action.position as usize;
            self.rise(position, (time, actor));
        }
    }

    fn rise(&mut self, mut position: usize, entry: (Time, Actor)) {
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(position, self.heap[parent]);
            position = parent;
        }
        self.put(position, entry);
    }

    fn sink(&mut self, mut position: usize, entry: (Time, Actor)) {
        loop {
            let mut child = 2 * position + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            if entry <= self.heap[child] {
                break;
            }
            self.put(position, self.heap[child]);
            position = child;
        }
        self.put(position, entry);
    }

    fn put(&mut self, position: usize, entry: (Time, Actor)) {
        self.heap[position] = entry;
        self.actions[entry.1 as usize - BUSY].position = position as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_then_actor() {
        let mut schedule = Schedule::new(5);
        for (actor, time) in [(3, 20), (1, 20), (0, 30), (4, 10), (2, 40)] {
            schedule.set(actor, Time::from_ns(time));
        }
        schedule.set(2, Time::from_ns(5));
        let mut order = Vec::new();
        while schedule.first().0.is_finite() {
            let (_, actor) = schedule.first();
            order.push(actor);
            schedule.set(actor, Time::NEVER);
        }
        assert_eq!(order, [2, 4, 1, 3, 0]);
    }

    #[test]
    fn random_updates_agree_with_a_linear_search() {
        let mut rng = units::Rng::new(3, "schedule");
        let (mut schedule, mut model) = (Schedule::new(40), vec![Time::NEVER; 40]);
        for _ in 0..20_000 {
            for _ in 0..rng.below(4) {
                let (actor, time) = (rng.below(40) as usize, Time::from_ns(rng.below(1000)));
                schedule.set(actor as Actor, time);
                model[actor] = time;
            }
            let expected = (0..40).map(|index| (model[index], index as Actor)).min().unwrap();
            assert_eq!(schedule.first(), expected);
        }
    }
}
