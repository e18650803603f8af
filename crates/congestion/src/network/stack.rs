//! Words that put values aside and take them up again: residual connections, branches, mixtures.

use strict_input::Refusal;

/// What becomes of the present values and of those put aside last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stack {
    /// The present values are put aside too.
    Keep,
    /// Those put aside last are added to the present ones.
    Add,
    /// They change places.
    Swap,
    /// The sum of the products of both.
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

    /// The number of values after this word, of `width` before; `aside` are the numbers of those put aside.
    ///
    /// # Errors
    /// What is wrong: nothing, or another number of values, is put aside.
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

    /// Changes the first `width` of `values`; `aside` has a place for everything that is put aside, `depth` of which are
    /// taken. Returns the new width.
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
