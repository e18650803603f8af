//! One row for each number of the statistics: its key, its kind, what it means, what the log has to tell for it, and
//! how it is computed. The fields of the statistics and the list of all definitions are made of the rows.

use super::needs::Need;
use super::{Better, Convention, Definition, Label, Level, OneWay};

/// A row without its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// A metric.
    Metric {
        /// Its definition, of which [`rows`](super::rows) knows the level.
        definition: Definition,
        /// What a log has to tell for it; null otherwise.
        needs: &'static [Need],
    },
    /// What names or dates something.
    Label(Label),
    /// An object with rows of its own.
    Group(&'static [Self]),
}

/// A metric of one clock, not of sample intervals, that every log tells.
pub(super) const fn metric(
    unit: &'static str,
    better: Better,
    convention: Convention,
    formula: &'static str,
    source: &'static str,
) -> Row {
    let (name, level, sampled, one_way) = ("", Level::Flow, false, None);
    let definition = Definition { name, unit, better, convention, level, formula, source, sampled, one_way };
    Row::Metric { definition, needs: &[] }
}

/// What names or dates something.
pub(super) const fn label(meaning: &'static str) -> Row {
    Row::Label(Label { name: "", level: Level::Flow, meaning })
}

/// An object, or a list of them.
pub(super) const fn group(rows: &'static [Row]) -> Row {
    Row::Group(rows)
}

impl Row {
    /// The same, computed from values per sample interval.
    pub(super) const fn sampled(self) -> Self {
        match self {
            Self::Metric { definition, needs } => {
                Self::Metric { definition: Definition { sampled: true, ..definition }, needs }
            }
            other => other,
        }
    }

    /// The same, of the clocks of both ends.
    pub(super) const fn across(self, one_way: OneWay) -> Self {
        match self {
            Self::Metric { definition, needs } => {
                Self::Metric { definition: Definition { one_way: Some(one_way), ..definition }, needs }
            }
            other => other,
        }
    }

    /// The same, null of logs that do not tell all of `needs`.
    pub(super) const fn needs(self, needs: &'static [Need]) -> Self {
        match self {
            Self::Metric { definition, .. } => Self::Metric { definition, needs },
            other => other,
        }
    }

    /// The same under its key.
    pub(super) const fn named(self, name: &'static str) -> Self {
        match self {
            Self::Metric { definition, needs } => {
                Self::Metric { definition: Definition { name, ..definition }, needs }
            }
            Self::Label(label) => Self::Label(Label { name, ..label }),
            group @ Self::Group(_) => group,
        }
    }

    /// What a log has to tell for it.
    pub(super) const fn needed(self) -> &'static [Need] {
        match self {
            Self::Metric { needs, .. } => needs,
            Self::Label(_) | Self::Group(_) => &[],
        }
    }
}

/// The value of a row.
pub(crate) fn value_of<K, V>(known: &K, value: fn(&K) -> V) -> V {
    value(known)
}

/// Makes of rows a structure `$Stats` with a field for each, its `ROWS`, and `$Stats::of`, which computes it of what is
/// known at the end of a run, a `$Known`. Keys stand behind `$prefix` in definitions.
macro_rules! statistics {
    (
        $(#[$doc:meta])*
        $Stats:ident, $prefix:literal, of $Known:ty {
            $( $name:ident: $kind:ty = $row:expr => $value:expr; )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        #[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
        pub struct $Stats {
            $( pub $name: $kind, )*
        }

        impl $Stats {
            pub(crate) const ROWS: &[$crate::definitions::Row] =
                &[ $( $row.named(concat!($prefix, stringify!($name))), )* ];

            /// Of what is `known`; null where the log does not tell what is needed.
            pub(crate) fn of(known: &$Known, log: $crate::definitions::LogTells) -> Self {
                Self {
                    $( $name: if log.tells(const { $row.needed() }) {
                        $crate::definitions::row::value_of(known, $value)
                    } else {
                        <$kind>::default()
                    }, )*
                }
            }
        }
    };
}

pub(super) use statistics;
