import assert from "node:assert/strict";
import { test } from "node:test";
import { commandsOf, csvOf, jsonOf, shellWord, shortest, type TableState } from "../../src/data/exports";
import { readFilters } from "../../src/data/runs";
import { GOODPUT, numberField, tableOf, textField } from "../table";

test("a cell with a comma, a quote or a line break is quoted", () => {
    const csv = csvOf({
        columns: ["a", "b"],
        rows: [
            ["x, y", 'say "z"'],
            ["one\ntwo", "plain"],
        ],
    });
    assert.equal(csv, 'a,b\r\n"x, y","say ""z"""\r\n"one\ntwo",plain\r\n');
});

test("a text that a spreadsheet would compute begins with an apostrophe, a number does not", () => {
    const csv = csvOf({ columns: ["a"], rows: [["=1+1"], ["@x"], ["-2"], ["+3"], ["\tx"], [-1.5]] });
    assert.deepEqual(csv.split("\r\n"), ["a", "'=1+1", "'@x", "'-2", "'+3", "'\tx", "-1.5", ""]);
});

test("an absent cell is empty", () => {
    assert.equal(csvOf({ columns: ["a", "b"], rows: [[null, Number.NaN]] }), "a,b\r\n,\r\n");
});

test("a table without rows is its heads", () => {
    assert.equal(csvOf({ columns: ["a", "b"], rows: [] }), "a,b\r\n");
});

test("JSON has a record for each row, and what it was chosen by", () => {
    const records = JSON.parse(
        jsonOf(
            {
                columns: ["a", "b"],
                rows: [
                    ["x", 1.5],
                    [null, Number.NaN],
                ],
            },
            { filter: ["f"] },
        ),
    );
    assert.deepEqual(records, {
        filter: ["f"],
        rows: [
            { a: "x", b: 1.5 },
            { a: null, b: null },
        ],
    });
});

test("a number in single precision is written in the fewest digits that mean it", () => {
    assert.equal(shortest(Math.fround(0.1), true), 0.1);
    const long = Math.fround(94.51227647);
    assert.equal(Math.fround(shortest(long, true)), long);
    assert.ok(String(shortest(long, true)).length <= 10);
});

test("a number in double precision stays as it is, and so does what is not finite", () => {
    assert.equal(shortest(0.1 + 0.2, false), 0.1 + 0.2);
    assert.equal(shortest(Number.POSITIVE_INFINITY, true), Number.POSITIVE_INFINITY);
});

test("words are quoted where a shell would read them otherwise", () => {
    assert.deepEqual(["plain-1.2", "it's", "$(x)", "", "a b", "~", "a;b"].map(shellWord), [
        "plain-1.2",
        "'it'\\''s'",
        "'$(x)'",
        "''",
        "'a b'",
        "'~'",
        "'a;b'",
    ]);
});

const RUNS = tableOf(
    { path: [""], scheme: [""], status: [""], directory: ["d1"], goodput_mbps: [1], "share:a:b": [1] },
    [GOODPUT, textField("path"), numberField("share:a:b", { group: "flow", better: "neutral" })],
);
const BOTH = {
    ...RUNS.facts,
    directories: ["my results; rm -rf $HOME", "-x"].map((label, place) => ({
        ...RUNS.facts.directories[0]!,
        id: `d${place + 1}`,
        label,
    })),
};
const NOTHING: TableState = { filters: [], metrics: [], convention: "corrected", sort: [], groupFields: [], pivot: [] };

function commands(entries: string[], shown: Partial<TableState> = {}, facts = RUNS.facts) {
    const runs = Object.assign(Object.create(RUNS), { facts });
    return commandsOf(runs, { ...NOTHING, filters: readFilters(entries, RUNS.fields).filters, ...shown });
}

test("all of a directory is one plain command", () => {
    assert.deepEqual(commands([]), { lines: ["dumbbell show results"], lacks: [] });
});

test("paths, schemes, metrics and the order are options", () => {
    const sort = [{ field: "goodput_mbps", descending: true }];
    const state = {
        metrics: ["goodput_mbps", "status"],
        sort,
        groupFields: ["scheme", "path"],
        convention: "pantheon",
    };
    const options = "--path 'it'\\''s here' --schemes cubic,bbr --metrics goodput_mbps --convention pantheon";
    assert.deepEqual(commands(["path:it's here", "scheme:cubic", "scheme:bbr"], state), {
        lines: [`dumbbell show results ${options} --sort goodput_mbps`],
        lacks: [],
    });
});

test("a value that begins with a dash stands behind an equals sign", () => {
    assert.deepEqual(commands(["scheme:-odd"]).lines, ["dumbbell show results --schemes=-odd"]);
});

test("each directory has its command, whatever its name", () => {
    assert.deepEqual(commands([], {}, BOTH).lines, ["dumbbell show 'my results; rm -rf $HOME'", "dumbbell show ./-x"]);
    assert.deepEqual(commands(["directory:d2"], {}, BOTH).lines, ["dumbbell show ./-x"]);
});

test("what no command can say is said", () => {
    const sort = [{ field: "goodput_mbps", descending: false }];
    const entries = ["status:done", "goodput_mbps:1..", "share:a:b:0..0.5", "*:x", "path:a,b"];
    const { lacks } = commands(entries, { sort, groupFields: ["scheme"], pivot: ["path"] }, BOTH);
    assert.deepEqual(lacks.sort(), [
        "a path with a comma in its name",
        "a pivot",
        "groups other than those of path and scheme",
        "means over several directories",
        "the filter of status",
        "the order, which has the worst goodput_mbps first",
        "the range of goodput_mbps",
        "the range of share:a:b",
        "the search for “x”",
    ]);
});
