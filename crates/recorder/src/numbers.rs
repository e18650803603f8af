//! Statistics of many runs in three tables, with a row for each run, flow and link, and their conversion back to JSON.
//!
//! The name of a column is the number's place in `stats.json`: `goodput_mbps`, `acklink.loss_rate`. The column `shape`
//! holds the JSON of the row, with a mark for each value that has a column. Marks are `#` for a whole number, `%` for a
//! number, `$` for a text and `@` for a list. The JSON restored from a row equals the original byte for byte.

use packetlog::{CellColumn, Cells, Error, LogFile, read_cells, write_cells};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tables in the order in which they are written. The table of runs comes last, because a folder without it is
/// incomplete.
const TABLES: [&str; 3] = ["flows", "links", "runs"];
/// Parts of a run's statistics that have their own tables.
const LISTS: [&str; 2] = ["flows", "links"];
/// Part whose numbers have no prefix, because there is one per run.
const NETWORK: &str = "network.";
const SHAPE: &str = "shape";
/// Columns of flows and links that identify the run.
const OWNER: [&str; 3] = ["path", "run_scheme", "run"];

const TEXTS: Cells = Cells::Texts(Vec::new(), Vec::new());
const INTEGERS: Cells = Cells::Integers(Vec::new());

/// Run whose statistics are added.
#[derive(Clone, Debug)]
pub struct NumberedRun<'a> {
    /// Name of the path.
    pub path: &'a str,
    /// Scheme or mix.
    pub scheme: &'a str,
    /// Number of the repetition, from 1.
    pub run: u32,
    /// Seed, below 2^53.
    pub seed: u64,
    /// Beginning of the batch, UTC.
    pub started_at: &'a str,
    /// Reason of the failure; `None` if the run did not fail.
    pub failure: Option<&'a str>,
}

/// Value that has a column.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Integer(i64),
    Number(f64),
    Text(&'a str),
}

/// Table while rows are added.
#[derive(Debug, Default)]
struct Rows {
    columns: Vec<CellColumn>,
    by_name: HashMap<String, usize>,
    /// Code of each text in a column.
    codes: HashMap<(usize, String), u32>,
    /// Number of complete rows.
    count: usize,
    /// Column of the last value: the next value usually belongs to the following column.
    last: usize,
}

impl Rows {
    /// Puts a value into the current row. Returns false if the row already has a value of that name, or the column has
    /// another type.
    fn put(&mut self, name: &str, value: Value<'_>) -> bool {
        let next = self.last + 1;
        let place = if self.columns.get(next).is_some_and(|column| column.name == name) {
            next
        } else {
            self.column(name, || match value {
                Value::Integer(_) => INTEGERS,
                Value::Number(_) => Cells::Numbers(Vec::new()),
                Value::Text(_) => TEXTS,
            })
        };
        let cells = &mut self.columns[place].cells;
        if cells.len() > self.count {
            return false;
        }
        cells.resize(self.count);
        match (cells, value) {
            (Cells::Integers(cells), Value::Integer(value)) => cells.push(Some(value)),
            (Cells::Numbers(cells), Value::Number(value)) => cells.push(Some(value)),
            (Cells::Texts(cells, texts), Value::Text(value)) => {
                let is_last = cells.last().copied().flatten().filter(|&code| texts[code as usize] == value);
                let code = is_last.unwrap_or_else(|| {
                    *self.codes.entry((place, value.to_owned())).or_insert_with(|| {
                        texts.push(value.to_owned());
                        texts.len() as u32 - 1
                    })
                });
                cells.push(Some(code));
            }
            _ => return false,
        }
        self.last = place;
        true
    }

    /// Ends the current row.
    fn end_row(&mut self) {
        self.count += 1;
        self.last = 0;
    }

    /// Returns the place of a column. A missing column is created with the cells that `new` returns.
    fn column(&mut self, name: &str, new: impl FnOnce() -> Cells) -> usize {
        if let Some(&place) = self.by_name.get(name) {
            return place;
        }
        self.columns.push(CellColumn { name: name.to_owned(), cells: new() });
        self.by_name.insert(name.to_owned(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Returns the columns, each with a cell for every row.
    fn into_columns(mut self) -> Vec<CellColumn> {
        for column in &mut self.columns {
            column.cells.resize(self.count);
        }
        self.columns
    }
}

/// Collected numbers of runs.
#[derive(Debug, Default)]
pub struct NumberTables {
    runs: Rows,
    lists: [Rows; 2],
}

impl NumberTables {
    /// Adds a run; `statistics` are its statistics as `serde_json` writes them, an object without spaces.
    pub fn add(&mut self, run: &NumberedRun<'_>, statistics: &str) {
        let rows = &mut self.runs;
        rows.put("path", Value::Text(run.path));
        rows.put("scheme", Value::Text(run.scheme));
        rows.put("run", Value::Integer(i64::from(run.run)));
        rows.put("seed", Value::Integer(run.seed as i64));
        rows.put("status", Value::Text(if run.failure.is_some() { "failed" } else { "done" }));
        if let Some(reason) = run.failure {
            rows.put("reason", Value::Text(reason));
        }
        rows.put("started_at", Value::Text(run.started_at));
        let mut text = Text { text: statistics, at: 0 };
        let (mut name, mut shape) = (String::new(), String::with_capacity(statistics.len()));
        text.value(
            &mut name,
            &mut shape,
            &mut Sink { rows: &mut self.runs, lists: Some((&mut self.lists, run)) },
        );
        self.runs.put(SHAPE, Value::Text(&shape));
        self.runs.end_row();
    }

    /// Returns the number of runs.
    pub const fn len(&self) -> usize {
        self.runs.count
    }

    /// Returns true without runs.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes `flows.parquet`, `links.parquet` and `runs.parquet` into `folder`.
    ///
    /// # Errors
    /// One line naming the file that cannot be written.
    pub fn write(self, folder: &Path) -> Result<(), Error> {
        let [mut flows, mut links] = self.lists;
        for list in [&mut flows, &mut links] {
            // A table without rows has these columns too.
            for (name, cells) in OWNER.into_iter().zip([TEXTS, TEXTS, INTEGERS]).chain([(SHAPE, TEXTS)]) {
                list.column(name, || cells);
            }
        }
        for (name, table) in TABLES.iter().zip([flows, links, self.runs]) {
            let rows = table.count;
            write_cells(folder.join(format!("{name}.parquet")), &table.into_columns(), rows)?;
        }
        Ok(())
    }
}

/// Destination of a run's values.
struct Sink<'a, 'b> {
    rows: &'a mut Rows,
    /// Tables of flows and links with their run; `None` inside these tables.
    lists: Option<(&'a mut [Rows; 2], &'a NumberedRun<'b>)>,
}

/// JSON without spaces, read from its beginning.
struct Text<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Takes one character.
    fn step(&mut self) -> u8 {
        let byte = self.peek();
        self.at += 1;
        byte
    }

    /// Takes the text of one value of any kind.
    fn whole(&mut self) -> &'a str {
        let start = self.at;
        let mut depth = 0_u32;
        while self.at < self.text.len() {
            match self.peek() {
                b'"' => {
                    self.string();
                    if depth == 0 {
                        break;
                    }
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' | b',' if depth == 0 => break,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Takes a string with its quotes.
    fn string(&mut self) -> &'a str {
        let start = self.at;
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += 1 + usize::from(self.peek() == b'\\');
        }
        self.at = (self.at + 1).min(self.text.len());
        &self.text[start..self.at]
    }

    /// Takes a value called `name`: values with a column go to `sink`, the others into `shape`.
    fn value(&mut self, name: &mut String, shape: &mut String, sink: &mut Sink<'_, '_>) {
        match self.peek() {
            b'{' => self.object(name, shape, sink),
            b'[' => {
                if let Some(place) = LISTS.iter().position(|list| *list == name.as_str())
                    && let Some((tables, run)) = &mut sink.lists
                {
                    self.rows_of(&mut tables[place], run);
                    shape.push_str("[]");
                } else {
                    let list = self.whole();
                    let has_cell = list != "[]" && sink.rows.put(column(name), Value::Text(list));
                    shape.push_str(if has_cell { "@" } else { list });
                }
            }
            _ => {
                let literal = self.whole();
                shape.push_str(mark(sink.rows, column(name), literal).unwrap_or(literal));
            }
        }
    }

    fn object(&mut self, name: &mut String, shape: &mut String, sink: &mut Sink<'_, '_>) {
        let length = name.len();
        while matches!(self.peek(), b'{' | b',') {
            shape.push(char::from(self.step()));
            if self.peek() == b'}' {
                break;
            }
            let key = self.string();
            shape.push_str(key);
            shape.push(char::from(self.step()));
            if length > 0 {
                name.push('.');
            }
            name.push_str(&key[1..key.len() - 1]);
            self.value(name, shape, sink);
            name.truncate(length);
        }
        shape.push(char::from(self.step()));
    }

    /// Takes a list of flows or of links.
    fn rows_of(&mut self, rows: &mut Rows, run: &NumberedRun<'_>) {
        self.at += 1;
        while self.peek() == b'{' {
            rows.put(OWNER[0], Value::Text(run.path));
            rows.put(OWNER[1], Value::Text(run.scheme));
            rows.put(OWNER[2], Value::Integer(i64::from(run.run)));
            let (mut name, mut shape) = (String::new(), String::new());
            self.value(&mut name, &mut shape, &mut Sink { rows, lists: None });
            rows.put(SHAPE, Value::Text(&shape));
            rows.end_row();
            self.at += usize::from(self.peek() == b',');
        }
        self.at += 1;
    }
}

/// Returns the name of a column.
fn column(name: &str) -> &str {
    name.strip_prefix(NETWORK).unwrap_or(name)
}

/// Puts a value that is no list into its column. Returns the value's mark; `None` if it has no column.
fn mark(rows: &mut Rows, name: &str, literal: &str) -> Option<&'static str> {
    let (value, mark) = match literal.as_bytes() {
        [b'"', text @ .., b'"'] if !text.contains(&b'\\') => {
            (Value::Text(&literal[1..literal.len() - 1]), "$")
        }
        [b'-' | b'0'..=b'9', ..] if literal.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => {
            (Value::Integer(literal.parse().ok()?), "#")
        }
        [b'-' | b'0'..=b'9', ..] => {
            let value: f64 = literal.parse().ok()?;
            // Other writers could format the number differently.
            (serde_json::to_string(&value).is_ok_and(|text| text == literal))
                .then_some((Value::Number(value), "%"))?
        }
        _ => return None,
    };
    rows.put(name, value).then_some(mark)
}

/// Table that was read.
#[derive(Debug)]
struct Table {
    columns: Vec<CellColumn>,
    by_name: HashMap<String, usize>,
    shape: usize,
}

impl Table {
    fn read(file: LogFile) -> Result<Self, Error> {
        let path = file.path().to_owned();
        let columns = read_cells(file, None)?;
        let by_name: HashMap<_, _> =
            columns.iter().enumerate().map(|(place, column)| (column.name.clone(), place)).collect();
        let shape = by_name.get(SHAPE).copied();
        let shape = shape.filter(|&place| matches!(columns[place].cells, Cells::Texts(..)));
        let Some(shape) = shape else {
            return Err(Error::file(&path, "has no column `shape`: no table of the numbers of runs"));
        };
        Ok(Self { columns, by_name, shape })
    }

    fn rows(&self) -> usize {
        self.columns[self.shape].cells.len()
    }

    fn text(&self, name: &str, row: usize) -> Option<&str> {
        match &self.columns[*self.by_name.get(name)?].cells {
            Cells::Texts(codes, texts) => codes[row].map(|code| texts[code as usize].as_str()),
            _ => None,
        }
    }

    fn integer(&self, name: &str, row: usize) -> Option<i64> {
        match &self.columns[*self.by_name.get(name)?].cells {
            Cells::Integers(cells) => cells[row],
            _ => None,
        }
    }

    /// Appends the JSON of a row; the parts of `lists` replace their empty lists. Returns `None` if the row lacks a
    /// value that its shape needs.
    fn write(&self, row: usize, lists: &[(&str, String)], out: &mut String) -> Option<()> {
        let shape = self.text(SHAPE, row)?;
        let mut text = Text { text: shape, at: 0 };
        let mut path: Vec<&str> = Vec::new();
        let mut name = String::new();
        while text.at < shape.len() {
            match text.peek() {
                b'"' => {
                    let key = text.string();
                    out.push_str(key);
                    if text.peek() == b':' {
                        path.pop();
                        path.push(key.get(1..key.len() - 1)?);
                    }
                }
                b'{' => {
                    out.push(char::from(text.step()));
                    path.push("");
                }
                b'}' => {
                    out.push(char::from(text.step()));
                    path.pop()?;
                }
                b'[' => {
                    let list = text.whole();
                    let part = lists.iter().find(|(of, _)| path.len() == 1 && *of == path[0] && list == "[]");
                    out.push_str(part.map_or(list, |(_, rows)| rows.as_str()));
                }
                mark @ (b'#' | b'%' | b'$' | b'@') => {
                    text.at += 1;
                    name.clear();
                    for (depth, key) in path.iter().enumerate() {
                        if depth > 0 {
                            name.push('.');
                        }
                        name.push_str(key);
                    }
                    self.cell(column(&name), row, mark, out)?;
                }
                _ => {
                    let start = text.at;
                    while text.at < shape.len()
                        && !matches!(text.peek(), b'"' | b'{' | b'}' | b'[' | b'#' | b'%' | b'$' | b'@')
                    {
                        text.at += 1;
                    }
                    out.push_str(&shape[start..text.at]);
                }
            }
        }
        Some(())
    }

    /// Appends a cell as JSON.
    fn cell(&self, name: &str, row: usize, mark: u8, out: &mut String) -> Option<()> {
        match (&self.columns[*self.by_name.get(name)?].cells, mark) {
            (Cells::Integers(cells), b'#') => out.push_str(&cells[row]?.to_string()),
            (Cells::Numbers(cells), b'%') => out.push_str(&serde_json::to_string(&cells[row]?).ok()?),
            (Cells::Texts(codes, texts), b'$') => {
                out.push('"');
                out.push_str(&texts[codes[row]? as usize]);
                out.push('"');
            }
            (Cells::Texts(codes, texts), b'@') => out.push_str(&texts[codes[row]? as usize]),
            _ => return None,
        }
        Some(())
    }
}

/// Numbers of one batch's runs, read back.
#[derive(Debug)]
pub struct NumberBatch {
    path: PathBuf,
    runs: Table,
    lists: [Table; 2],
    /// For both lists, the row at which each run begins, followed by the number of rows.
    starts: [Vec<usize>; 2],
}

impl NumberBatch {
    /// Reads the tables of a batch: runs, flows, links.
    ///
    /// # Errors
    /// One line: a file cannot be read, is damaged, or does not fit the others.
    pub fn read(runs: LogFile, flows: LogFile, links: LogFile) -> Result<Self, Error> {
        let path = runs.path().to_owned();
        let (runs, lists) = (Table::read(runs)?, [Table::read(flows)?, Table::read(links)?]);
        let mut starts = [Vec::new(), Vec::new()];
        for (list, starts) in lists.iter().zip(&mut starts) {
            let mut at = 0;
            for row in 0..runs.rows() {
                starts.push(at);
                while at < list.rows() && is_of(list, at, &runs, row) {
                    at += 1;
                }
            }
            starts.push(at);
            if at < list.rows() {
                return Err(Error::file(&path, "is damaged: flows or links belong to none of its runs"));
            }
        }
        Ok(Self { path, runs, lists, starts })
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.runs.rows()
    }

    /// Returns true without runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the statistics of the run in `row` as JSON, with the keys that identify the run.
    ///
    /// # Errors
    /// One line: its row is damaged.
    pub fn statistics(&self, row: usize) -> Result<String, Error> {
        self.json(row).ok_or_else(|| self.damage_error(row))
    }

    fn json(&self, row: usize) -> Option<String> {
        let mut out = String::from("{");
        for key in ["path", "scheme", "status", "reason", "started_at"] {
            let text = serde_json::to_string(&self.runs.text(key, row)).ok()?;
            write!(out, "\"{key}\":{text},").ok()?;
        }
        for key in ["run", "seed"] {
            write!(out, "\"{key}\":{},", self.runs.integer(key, row)?).ok()?;
        }
        let mut lists = Vec::new();
        for ((name, table), starts) in LISTS.iter().zip(&self.lists).zip(&self.starts) {
            let mut rows = String::from("[");
            for at in starts[row]..starts[row + 1] {
                if at > starts[row] {
                    rows.push(',');
                }
                table.write(at, &[], &mut rows)?;
            }
            rows.push(']');
            lists.push((*name, rows));
        }
        let mut statistics = String::new();
        self.runs.write(row, &lists, &mut statistics)?;
        out.push_str(statistics.strip_prefix('{')?);
        Some(out)
    }

    fn damage_error(&self, row: usize) -> Error {
        Error::file(&self.path, format!("is damaged: row {row} is not that of a run"))
    }
}

/// Returns true if row `at` of a list belongs to the run in `row`.
fn is_of(list: &Table, at: usize, runs: &Table, row: usize) -> bool {
    list.integer(OWNER[2], at) == runs.integer("run", row)
        && list.text(OWNER[1], at) == runs.text("scheme", row)
        && list.text(OWNER[0], at) == runs.text("path", row)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files are what this is about")]
mod tests {
    use super::*;

    const STATISTICS: [&str; 3] = [
        r#"{"flows":[{"flow":1,"scheme":"cubic","goodput_mbps":0.1,"acklink":{"loss_rate":1e-300,"x":null},"media":null,"times":[0.5,1]},{"flow":2,"scheme":"bbr","goodput_mbps":-0.0,"acklink":{"loss_rate":0.30000000000000004,"x":7},"media":{"stalls":2},"times":[]}],"links":[{"link":"data/bottleneck","packets_in":18446744073709551615}],"network":{"goodput_mbps":5.0,"valid":true,"invalid_reason":"a \"b\"","events":1.5},"sim_wall_s":0.25,"events":12}"#,
        r#"{"flows":[],"links":[],"network":{},"sim_wall_s":null,"events":null}"#,
        r#"{"flows":[{"flow":1,"scheme":"cubic","goodput_mbps":3,"acklink":{"loss_rate":0.0,"x":7.5},"media":null,"times":[]}],"links":[],"network":{"goodput_mbps":1e300,"valid":false,"invalid_reason":null},"sim_wall_s":1.0,"events":1}"#,
    ];

    fn run(number: u32, failure: Option<&str>) -> NumberedRun<'_> {
        NumberedRun {
            path: "slow",
            scheme: "cubic+bbr",
            run: number,
            seed: 1 << 52,
            started_at: "2026-11-30T20:00:00Z",
            failure,
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dumbbell-numbers-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn read(folder: &Path) -> Result<NumberBatch, Error> {
        let file = |name: &str| LogFile::from(folder.join(format!("{name}.parquet")));
        NumberBatch::read(file("runs"), file("flows"), file("links"))
    }

    #[test]
    fn statistics_come_back_byte_for_byte() {
        let folder = folder("bytes");
        let mut tables = NumberTables::default();
        for (number, statistics) in (1..).zip(STATISTICS) {
            let failure = (number == 2).then_some("it was too much: \"stopped\"\u{e9}");
            tables.add(&run(number, failure), statistics);
        }
        assert_eq!(tables.len(), 3);
        tables.write(&folder).unwrap();
        let batch = read(&folder).unwrap();
        for (row, statistics) in STATISTICS.iter().enumerate() {
            let json = batch.statistics(row).unwrap();
            assert!(json.ends_with(&statistics[1..]), "{json}");
            let object: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!((&object["path"], &object["scheme"]), (&"slow".into(), &"cubic+bbr".into()));
            assert_eq!(object["run"], row + 1);
            assert_eq!(object["seed"], 1_u64 << 52);
            assert_eq!(object["status"], if row == 1 { "failed" } else { "done" });
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn no_shape_makes_it_panic() {
        let shapes = [
            "",
            "\"",
            "{\"a",
            "{\"a\\",
            "{\"a\":#",
            "}",
            "]",
            "[",
            "{\"flows\":[[",
            "#",
            "{\"\u{e9}\\\u{e9}",
            "{\"path\":$",
        ];
        let folder = folder("shapes");
        for shape in shapes {
            let mut tables = NumberTables::default();
            tables.add(&run(1, None), STATISTICS[0]);
            for table in [&mut tables.runs, &mut tables.lists[0]] {
                let place = table.by_name[SHAPE];
                table.columns[place].cells = Cells::Texts(vec![Some(0); table.count], vec![shape.to_owned()]);
            }
            tables.write(&folder).unwrap();
            drop(read(&folder).unwrap().statistics(0)); // an error, or no JSON: nothing else
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn runs_without_flows_have_tables_without_rows() {
        let folder = folder("empty");
        let mut tables = NumberTables::default();
        tables.add(&run(1, Some("stopped")), STATISTICS[1]);
        tables.write(&folder).unwrap();
        let batch = read(&folder).unwrap();
        assert!(batch.statistics(0).unwrap().ends_with(&STATISTICS[1][1..]));
        let flows = read_cells(folder.join("flows.parquet"), None).unwrap();
        let names: Vec<&str> = flows.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["path", "run_scheme", "run", "shape"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn numbers_have_columns_of_their_names() {
        let folder = folder("columns");
        let mut tables = NumberTables::default();
        tables.add(&run(1, None), STATISTICS[0]);
        tables.write(&folder).unwrap();
        let names = |table: &str| -> Vec<String> {
            let columns = read_cells(folder.join(format!("{table}.parquet")), None).unwrap();
            columns.into_iter().map(|column| column.name).collect()
        };
        let runs = [
            "path",
            "scheme",
            "run",
            "seed",
            "status",
            "started_at",
            "goodput_mbps",
            "events",
            "sim_wall_s",
            "shape",
        ];
        assert_eq!(names("runs"), runs);
        let flows = [
            "path",
            "run_scheme",
            "run",
            "flow",
            "scheme",
            "goodput_mbps",
            "acklink.loss_rate",
            "times",
            "shape",
        ];
        assert_eq!(names("flows")[..9], flows);
        assert_eq!(names("flows")[9..], ["acklink.x", "media.stalls"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn tables_that_do_not_belong_together_are_refused_in_one_line() {
        let (one, other) = (folder("one"), folder("other"));
        for (folder, number) in [(&one, 1), (&other, 2)] {
            let mut tables = NumberTables::default();
            tables.add(&run(number, None), STATISTICS[0]);
            tables.write(folder).unwrap();
        }
        std::fs::copy(other.join("flows.parquet"), one.join("flows.parquet")).unwrap();
        let refusal = read(&one).unwrap_err().to_string();
        assert!(refusal.ends_with("is damaged: flows or links belong to none of its runs"), "{refusal}");
        std::fs::copy(other.join("links.parquet"), other.join("runs.parquet")).unwrap();
        let batch = read(&other);
        assert!(batch.is_err() || batch.unwrap().statistics(0).is_err());
        std::fs::remove_dir_all(one).unwrap();
        std::fs::remove_dir_all(other).unwrap();
    }
}
