//! Rows of the statistics: key, kind, meaning, needs and computation of each number. The fields of the statistics and
//! the list of all definitions are generated from the rows.

use super::definition::{Better, Convention, Definition, Label, Level, OneWay};
use super::needs::Need;

/// Row in the list of definitions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// A metric.
    Metric(Definition),
    /// Key of a name or a date.
    Label(Label),
    /// Object with its own rows.
    Group(&'static [Self]),
}

impl Row {
    /// Returns the row in statistics of `level`.
    pub(super) const fn at(self, level: Level) -> Self {
        match self {
            Self::Metric(definition) => Self::Metric(Definition { level, ..definition }),
            Self::Label(label) => Self::Label(Label { level, ..label }),
            group @ Self::Group(_) => group,
        }
    }
}

/// Metric whose key and level are not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    definition: Definition,
    needs: &'static [Need],
}

/// Returns a metric that depends on one clock, does not depend on sample intervals, and needs nothing.
pub(super) const fn metric(
    unit: &'static str,
    better: Better,
    convention: Convention,
    formula: &'static str,
    source: &'static str,
) -> Metric {
    let (name, level, sampled, one_way, fraction) = ("", Level::Flow, false, None, false);
    let definition =
        Definition { name, unit, better, convention, level, formula, source, sampled, one_way, fraction };
    Metric { definition, needs: &[] }
}

impl Metric {
    /// Marks a metric computed from values per sample interval.
    pub(super) const fn sampled(self) -> Self {
        Self { definition: Definition { sampled: true, ..self.definition }, ..self }
    }

    /// Marks a metric that depends on the clocks of both ends.
    pub(super) const fn across(self, one_way: OneWay) -> Self {
        Self { definition: Definition { one_way: Some(one_way), ..self.definition }, ..self }
    }

    /// Marks a fraction of a whole.
    pub(super) const fn fraction(self) -> Self {
        Self { definition: Definition { fraction: true, ..self.definition }, ..self }
    }

    /// Adds requirements: the metric is null in logs that do not meet all of `needs`.
    pub(super) const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    pub(super) const fn needed(self) -> &'static [Need] {
        self.needs
    }

    pub(super) const fn named(self, name: &'static str) -> Row {
        Row::Metric(Definition { name, ..self.definition })
    }
}

/// Key that is no metric, or an object; needs nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other(Row);

/// Returns the key of a name or a date.
pub(super) const fn label(meaning: &'static str) -> Other {
    Other(Row::Label(Label { name: "", level: Level::Flow, meaning }))
}

/// Returns an object, or a list of objects. Its own key is in no list of definitions.
pub(super) const fn group(rows: &'static [Row]) -> Other {
    Other(Row::Group(rows))
}

impl Other {
    #[expect(clippy::unused_self, reason = "`statistics!` asks every row")]
    pub(super) const fn needed(self) -> &'static [Need] {
        &[]
    }

    pub(super) const fn named(self, name: &'static str) -> Row {
        match self.0 {
            Row::Label(label) => Row::Label(Label { name, ..label }),
            other => other,
        }
    }
}

/// Returns the value of a row. The function exists because a closure argument gets its type from the parameter.
pub(crate) fn value_of<K, V>(known: &K, value: fn(&K) -> V) -> V {
    value(known)
}

/// Generates from rows the structure `$Stats` with a field for each row, its `ROWS`, and `$Stats::of`, which computes
/// it from a `$Known` at the end of a run. In definitions `$prefix` precedes the keys.
macro_rules! statistics {
    (
        $(#[$doc:meta])*
        $Stats:ident, $prefix:literal, of $Known:ty {
            $( $name:ident: $kind:ty = $row:expr => $value:expr; )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema, serde::Serialize)]
        #[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
        pub struct $Stats {
            $( pub $name: $kind, )*
        }

        impl $Stats {
            pub(crate) const ROWS: &[$crate::definitions::row::Row] =
                &[ $( $row.named(concat!($prefix, stringify!($name))), )* ];

            /// Computes the statistics of `known`; a value is null if the log does not meet its needs.
            pub(crate) fn of(known: &$Known, log: $crate::definitions::needs::LogTells) -> Self {
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
