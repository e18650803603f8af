//! Words that store values and use them again: residual connections, branches, mixtures.

use strict_input::Refusal;

/// Operation on the present values and the values stored last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stack {
    /// Stores a copy of the present values.
    Keep,
    /// Adds the values stored last to the present ones.
    Add,
    /// Exchanges the present and the stored values.
    Swap,
    /// Sums the products of both.
    Dot,
}

/// Words, for messages.
pub(super) const WORDS: &str = "keep, add, swap, dot";

impl Stack {
    pub(super) fn named(word: &str) -> Option<Self> {
        match word {
            "keep" => Some(Self::Keep),
            "add" => Some(Self::Add),
            "swap" => Some(Self::Swap),
            "dot" => Some(Self::Dot),
            _ => None,
        }
    }

    /// Returns the number of values after this word if there are `width` before; `aside` contains the numbers of stored
    /// values.
    ///
    /// # Errors
    /// Nothing is stored, or a different number of values.
    pub(super) fn width(self, width: usize, aside: &mut Vec<usize>) -> Result<usize, Refusal> {
        if self == Self::Keep {
            aside.push(width);
            return Ok(width);
        }
        let kept = aside.pop().ok_or_else(|| Refusal::new("nothing is kept"))?;
        match self {
            Self::Swap => {
                aside.push(width);
                Ok(kept)
            }
            _ if kept != width => Err(Refusal::new(format!("{width} values beside {kept} kept ones"))),
            Self::Dot => Ok(1),
            Self::Keep | Self::Add => Ok(width),
        }
    }

    /// Changes the first `width` of `values`. `aside` has a place for everything that can be stored; `depth` places are
    /// in use. Returns the new width.
    pub(super) fn change(
        self,
        values: &mut Vec<f32>,
        width: usize,
        aside: &mut [(usize, Vec<f32>)],
        depth: &mut usize,
    ) -> usize {
        if self == Self::Keep {
            let (kept, place) = &mut aside[*depth];
            place[..width].copy_from_slice(&values[..width]);
            *kept = width;
            *depth += 1;
            return width;
        }
        let (kept, place) = &mut aside[*depth - 1];
        match self {
            Self::Swap => {
                core::mem::swap(values, place);
                return core::mem::replace(kept, width);
            }
            Self::Dot => {
                let products = values[..width].iter().zip(&place[..width]);
                values[0] = products.map(|(value, other)| value * other).sum();
                *depth -= 1;
                return 1;
            }
            Self::Keep | Self::Add => {
                for (value, other) in values[..width].iter_mut().zip(&place[..width]) {
                    *value += other;
                }
            }
        }
        *depth -= 1;
        width
    }
}
