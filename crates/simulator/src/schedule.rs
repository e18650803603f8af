//! When each actor wants to act next: an indexed binary heap with one entry per actor.

use units::Time;

/// Index of an actor.
pub(crate) type Actor = u32;

/// Actors ordered by the time of their next event; ties go to the lower index, so the order is always the same.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Time and actor together, so that a comparison touches one place in memory.
    heap: Vec<(Time, Actor)>,
    /// Position of each actor in the heap.
    position: Vec<u32>,
}

impl Schedule {
    /// `actors` actors without plans.
    pub(crate) fn new(actors: usize) -> Self {
        Self {
            heap: (0..actors).map(|actor| (Time::NEVER, actor as Actor)).collect(),
            position: (0..actors as u32).collect(),
        }
    }

    /// The next event.
    #[inline]
    pub(crate) fn first(&self) -> (Time, Actor) {
        self.heap[0]
    }

    /// Replaces the plan of `actor`.
    #[inline]
    pub(crate) fn set(&mut self, actor: Actor, time: Time) {
        let position = self.position[actor as usize] as usize;
        let old = self.heap[position].0;
        if time == old {
            return;
        }
        self.heap[position].0 = time;
        if time < old {
            self.rise(position);
        } else {
            self.sink(position);
        }
    }

    fn rise(&mut self, mut position: usize) {
        let entry = self.heap[position];
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

    fn sink(&mut self, mut position: usize) {
        let entry = self.heap[position];
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
        self.position[entry.1 as usize] = position as u32;
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
            let (actor, time) = (rng.below(40) as usize, Time::from_ns(rng.below(1000)));
            schedule.set(actor as Actor, time);
            model[actor] = time;
            let expected = (0..40).map(|index| (model[index], index as Actor)).min().unwrap();
            assert_eq!(schedule.first(), expected);
        }
    }
}
