//! Table from flow numbers to positions.

use std::collections::BTreeMap;

/// Limit of the flow numbers that are looked up directly.
const DIRECT: usize = 1 << 16;
const NONE: u32 = u32::MAX;

/// Position of each flow number; any number is allowed, small ones are fast.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowTable {
    direct: Vec<u32>,
    others: BTreeMap<u32, u32>,
}

impl FlowTable {
    #[inline]
    pub(crate) fn get(&self, flow: u32) -> Option<usize> {
        match self.direct.get(flow as usize) {
            Some(&position) if position != NONE => Some(position as usize),
            _ => self.get_slowly(flow),
        }
    }

    #[cold]
    #[inline(never)]
    fn get_slowly(&self, flow: u32) -> Option<usize> {
        self.others.get(&flow).map(|&position| position as usize)
    }

    pub(crate) fn insert(&mut self, flow: u32, position: usize) {
        let number = flow as usize;
        if number >= DIRECT {
            self.others.insert(flow, position as u32);
            return;
        }
        if self.direct.len() <= number {
            self.direct.resize(number + 1, NONE);
        }
        self.direct[number] = position as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_can_be_a_flow() {
        let mut table = FlowTable::default();
        for (position, flow) in [3, u32::MAX, 0, 65_535, 65_536].into_iter().enumerate() {
            assert_eq!(table.get(flow), None);
            table.insert(flow, position);
            assert_eq!(table.get(flow), Some(position));
        }
        assert_eq!((table.get(3), table.get(1)), (Some(0), None));
    }
}
