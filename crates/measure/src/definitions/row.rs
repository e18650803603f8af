//! One row for each number of the statistics: its key, its kind, what it means, what the log has to tell for it, and
//! how it is computed. The fields of the statistics and the list of all definitions are made of the rows.

use super::definition::{Better, Convention, Definition, Label, Level, OneWay};
use super::needs::Need;

/// A row as the list of definitions has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// A metric.
    Metric(Definition),
    /// A key that names or dates something.
    Label(Label),
    /// An object with rows of its own.
    Group(&'static [Self]),
}

impl Row {
    /// The same row in statistics of `level`.
    pub(super) const fn at(self, level: Level) -> Self {
        match self {
            Self::Metric(definition) => Self::Metric(Definition { level, ..definition }),
            Self::Label(label) => Self::Label(Label { level, ..label }),
            group @ Self::Group(_) => group,
        }
    }
}

/// A metric whose key and level are not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric {
    definition: Definition,
    needs: &'static [Need],
}

/// Returns a metric of one clock, not of sample intervals, that every log tells.
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
    /// The same, computed from values per sample interval.
    pub(super) const fn sampled(self) -> Self {
        Self { definition: Definition { sampled: true, ..self.definition }, ..self }
    }

    /// The same, of the clocks of both ends.
    pub(super) const fn across(self, one_way: OneWay) -> Self {
        Self { definition: Definition { one_way: Some(one_way), ..self.definition }, ..self }
    }

    /// Marks a fraction of a whole.
    pub(super) const fn fraction(self) -> Self {
        Self { definition: Definition { fraction: true, ..self.definition }, ..self }
    }

    /// The same, null of logs that do not tell all of `needs`.
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

/// A key that is no metric, or an object: every log tells it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other(Row);

/// Returns a key that names or dates something.
pub(super) const fn label(meaning: &'static str) -> Other {
    Other(Row::Label(Label { name: "", level: Level::Flow, meaning }))
}

/// Returns an object, or a list of them. Its own key is in no list of definitions.
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

/// Returns the value of a row. A closure that is an argument of a function knows the type of its own argument.
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
        #[derive(Clone, Debug, Default, PartialEq, schemars::JsonSchema, serde::Serialize)]
        #[allow(missing_docs, reason = "documented in metrics(), the one definition of each number")]
        pub struct $Stats {
            $( pub $name: $kind, )*
        }

        impl $Stats {
            pub(crate) const ROWS: &[$crate::definitions::row::Row] =
                &[ $( $row.named(concat!($prefix, stringify!($name))), )* ];

            /// Of what is `known`; null where the log does not tell what is needed.
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
