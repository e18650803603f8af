import assert from "node:assert/strict";
import { test } from "node:test";
import {
    byText,
    countedValues,
    estimateOf,
    filterFields,
    filterRows,
    groupRows,
    Runs,
    reachOf,
    readFilters,
    readSort,
    runsOf,
    sortGroups,
    sortRows,
    valuesOf,
} from "../../src/data/runs";
import type { Field } from "../../src/data/source";
import { allRows, numberField, tableOf, textField } from "../table";

function fieldsByName(...fields: Field[]): Map<string, Field> {
    return new Map(fields.map((field) => [field.name, field]));
}

const FIELDS = fieldsByName(
    textField("scheme"),
    textField("status"),
    numberField("goodput_mbps"),
    numberField("started_at"),
    numberField("share:a:b"),
);

test("texts sort as people do", () => {
    const texts = ["cell 10", "cell 2", "beta", "Alpha", "cell 1"].sort(byText);
    assert.deepEqual(texts, ["Alpha", "beta", "cell 1", "cell 2", "cell 10"]);
});

test("values of one field are alternatives, a search stands by itself", () => {
    const { filters, unknown } = readFilters(["scheme:cubic", "*:india", "scheme:bbr"], FIELDS);
    assert.deepEqual(filters, [
        { kind: "search", text: "india" },
        { kind: "values", field: "scheme", values: ["cubic", "bbr"] },
    ]);
    assert.deepEqual(unknown, []);
});

test("a range has two ends, one, or is a single number", () => {
    const range = (entry: string) => readFilters([entry], FIELDS).filters[0];
    const rangeFilter = (low: number | null, high: number | null) => ({
        kind: "range",
        field: "goodput_mbps",
        low,
        high,
    });
    assert.deepEqual(range("goodput_mbps:1.5..2e1"), rangeFilter(1.5, 20));
    assert.deepEqual(range("goodput_mbps:1.."), rangeFilter(1, null));
    assert.deepEqual(range("goodput_mbps:..-2"), rangeFilter(null, -2));
    assert.deepEqual(range("goodput_mbps:7"), rangeFilter(7, 7));
});

test("what is no filter comes back", () => {
    const entries = ["none:1", "goodput_mbps:x..2", "goodput_mbps:..", "plain", "started_at:2026-13-45.."];
    const { filters, unknown } = readFilters(entries, FIELDS);
    assert.deepEqual(filters, []);
    assert.deepEqual(unknown, entries);
});

test("a search for nothing is none", () => {
    assert.deepEqual(readFilters(["*:"], FIELDS), { filters: [], unknown: [] });
});

test("of a name with colons the longest that is a field is meant", () => {
    assert.deepEqual(readFilters(["share:a:b:0..1"], FIELDS).filters, [
        { kind: "range", field: "share:a:b", low: 0, high: 1 },
    ]);
});

test("a value of text may have colons, and may be empty", () => {
    assert.deepEqual(readFilters(["scheme:a:b", "scheme:"], FIELDS).filters, [
        { kind: "values", field: "scheme", values: ["a:b", ""] },
    ]);
});

test("a date ends with its last millisecond", () => {
    const [filter] = readFilters(["started_at:2026-11-01..2026-11-02"], FIELDS).filters;
    const start = Date.UTC(2026, 10, 1) / 1000;
    assert.deepEqual(filter, { kind: "range", field: "started_at", low: start, high: start + 2 * 86400 - 0.001 });
});

test("a search needs all texts, a filter its own field", () => {
    const { filters } = readFilters(["*:x"], FIELDS);
    assert.deepEqual(filterFields(filters, FIELDS), ["scheme", "status"]);
    assert.deepEqual(filterFields(readFilters(["goodput_mbps:1.."], FIELDS).filters, FIELDS), ["goodput_mbps"]);
});

const TABLE = tableOf(
    {
        directory: ["d1", "d1", "d1", "d1", "d1"],
        path: ["india 10", "india 2", "nepal", null, "nepal"],
        scheme: ["cubic", "bbr", "cubic", "copa", "bbr"],
        run: [1, 2, 3, 4, 5],
        seed: [11, 12, 11, 12, 11],
        status: ["done", "done", "failed", "done", "done"],
        goodput_mbps: [10, 20, 99, Number.NaN, 40],
        loss: [0.01, 0.02, 0.03, 0.04, 0.05],
    },
    [numberField("loss", { factor: 100 })],
);

function rowsOf(...entries: string[]): number[] {
    return [...filterRows(TABLE, readFilters(entries, TABLE.fields).filters)];
}

test("no filter lets all rows pass", () => {
    assert.deepEqual(rowsOf(), [0, 1, 2, 3, 4]);
});

test("filters of two fields have to pass both", () => {
    assert.deepEqual(rowsOf("scheme:cubic", "scheme:bbr", "goodput_mbps:15.."), [1, 2, 4]);
});

test("both ends of a range pass, a row without a number does not", () => {
    assert.deepEqual(rowsOf("goodput_mbps:10..40"), [0, 1, 4]);
    assert.deepEqual(rowsOf("goodput_mbps:..1000"), [0, 1, 2, 4]);
    assert.deepEqual(rowsOf("run:2..3"), [1, 2]);
});

test("a range is in the unit that people see", () => {
    assert.deepEqual(rowsOf("loss:2..4"), [1, 2, 3]);
});

test("a reversed range lets nothing pass", () => {
    assert.deepEqual(rowsOf("goodput_mbps:40..10"), []);
});

test("a number read off single precision finds its row", () => {
    const runs = tableOf({ goodput_mbps: Float32Array.from([0.1, 0.2]) });
    const { filters } = readFilters(["goodput_mbps:0.1..0.1"], runs.fields);
    assert.deepEqual([...filterRows(runs, filters)], [0]);
});

test("the empty text finds rows without one", () => {
    assert.deepEqual(rowsOf("path:"), [3]);
});

test("every word of a search has to be in some text, whatever the case", () => {
    assert.deepEqual(rowsOf("*:INDIA"), [0, 1]);
    assert.deepEqual(rowsOf("*:nepal bbr"), [4]);
    assert.deepEqual(rowsOf("*:nepal copa"), []);
});

test("a search looks at the label of a directory, not at its identity", () => {
    assert.equal(rowsOf("*:results").length, 5);
    assert.equal(rowsOf("*:d1").length, 0);
});

test("a filter can be left out, and one whose column is not there passes all", () => {
    const { filters } = readFilters(["scheme:copa"], TABLE.fields);
    assert.equal(filterRows(TABLE, filters, "scheme").length, 5);
    const bare = new Runs(TABLE.facts);
    assert.equal(filterRows(bare, filters).length, 5);
});

test("sort keys name a field and a direction; what is no field is left out", () => {
    assert.deepEqual(readSort(["goodput_mbps", "-scheme", "-none"], FIELDS), [
        { field: "goodput_mbps", descending: false },
        { field: "scheme", descending: true },
    ]);
});

const SORTED = tableOf({
    a: [3, Number.NaN, -2.5, 0, -7e300, 3.0000000001],
    b: Float32Array.from([1, 1, Number.NaN, 2, 2, 1]),
    c: ["cell 10", "cell 2", "beta", null, "cell 2", "cell 10"],
});

function sortedBy(...entries: string[]): number[] {
    return [...sortRows(SORTED, allRows(SORTED), readSort(entries, SORTED.fields))];
}

test("numbers sort by all their digits, missing ones are last either way", () => {
    assert.deepEqual(sortedBy("a"), [4, 2, 3, 0, 5, 1]);
    assert.deepEqual(sortedBy("-a"), [5, 0, 3, 2, 4, 1]);
});

test("the second key orders what the first leaves equal", () => {
    assert.deepEqual(sortedBy("b", "-a"), [5, 0, 1, 3, 4, 2]);
});

test("equal rows stay in the order in which they are", () => {
    assert.deepEqual(sortedBy("c"), [2, 1, 4, 0, 5, 3]);
    assert.deepEqual(sortedBy("-c", "a"), [0, 5, 4, 1, 2, 3]);
});

test("zero and minus zero are equal, infinities are at the ends", () => {
    const runs = tableOf({ a: [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1] });
    const order = sortRows(runs, allRows(runs), [{ field: "a", descending: false }]);
    assert.deepEqual([...order], [3, 4, 0, 1, 2]);
});

test("a thousand random numbers sort as Array.sort has them", () => {
    let state = 1;
    const draw = () => {
        state = (state * 48271) % 2147483647;
        return state / 2147483647 - 0.5;
    };
    const values = Array.from({ length: 1000 }, () => draw() * 10 ** Math.round(40 * draw()));
    for (const column of [values, Float32Array.from(values)]) {
        const runs = tableOf({ a: column });
        const order = sortRows(runs, allRows(runs), [{ field: "a", descending: false }]);
        assert.deepEqual(
            [...order].map((row) => column[row]),
            [...column].sort((a, b) => a - b),
        );
    }
});

test("no rows sort to no rows", () => {
    assert.equal(sortRows(SORTED, new Uint32Array(), [{ field: "a", descending: true }]).length, 0);
});

test("groups have the rows of equal texts, in the order in which they come", () => {
    const groups = groupRows(TABLE, allRows(TABLE), ["path", "scheme"]);
    assert.deepEqual(
        groups.map(({ values, rows, good }) => [...values, rows.join(), good]),
        [
            ["india 10", "cubic", "0", 1],
            ["india 2", "bbr", "1", 1],
            ["nepal", "cubic", "2", 0],
            ["", "copa", "3", 1],
            ["nepal", "bbr", "4", 1],
        ],
    );
});

test("groups by a number have its text", () => {
    const groups = groupRows(TABLE, allRows(TABLE), ["seed"]);
    assert.deepEqual(
        groups.map(({ values, rows }) => [values[0], rows]),
        [
            ["11", [0, 2, 4]],
            ["12", [1, 3]],
        ],
    );
});

test("groups by nothing are one group of all rows", () => {
    const groups = groupRows(TABLE, allRows(TABLE), []);
    assert.equal(groups.length, 1);
    assert.deepEqual(groups[0]!.rows, [0, 1, 2, 3, 4]);
    assert.equal(groups[0]!.good, 4);
});

test("values leave out runs that did not go well, and those without a number", () => {
    assert.deepEqual(valuesOf(TABLE, allRows(TABLE), "goodput_mbps"), [10, 20, 40]);
});

test("an estimate of a fraction ends at the whole, that of another metric does not", () => {
    const values = [0.5, 0.9, 1, 1, 1];
    const status = values.map(() => "done");
    const fields = [numberField("utilization", { fraction: true }), numberField("other")];
    const runs = tableOf({ status, utilization: values, other: values }, fields);
    assert.equal(estimateOf(runs, allRows(runs), "utilization")!.high, 1);
    assert.ok(estimateOf(runs, allRows(runs), "other")!.high! > 1);
});

test("an estimate of rows without a value is null", () => {
    assert.equal(estimateOf(TABLE, [2, 3], "goodput_mbps"), null);
});

test("groups sort by a mean or by a text; those without a value are last either way", () => {
    const groups = groupRows(TABLE, allRows(TABLE), ["path"]);
    const means = new Map([
        ["india 10", 10],
        ["india 2", -7.5],
        ["nepal", -2],
    ]);
    const order = (field: string, descending: boolean) =>
        sortGroups(groups, ["path"], ({ values }) => means.get(values[0]!) ?? null, [{ field, descending }]).map(
            ({ values }) => values[0],
        );
    assert.deepEqual(order("mean", false), ["india 2", "nepal", "india 10", ""]);
    assert.deepEqual(order("mean", true), ["india 10", "nepal", "india 2", ""]);
    assert.deepEqual(order("path", true), ["nepal", "india 10", "india 2", ""]);
});

test("texts of a field are counted, absent ones too", () => {
    assert.deepEqual(countedValues(TABLE, allRows(TABLE), "path"), [
        { value: "", count: 1 },
        { value: "india 2", count: 1 },
        { value: "india 10", count: 1 },
        { value: "nepal", count: 2 },
    ]);
});

test("the reach of a field is what people see of it; of no numbers there is none", () => {
    assert.deepEqual(reachOf(TABLE, allRows(TABLE), "goodput_mbps"), [10, 99]);
    assert.deepEqual(reachOf(TABLE, [0, 4], "loss"), [1, 5]);
    assert.equal(reachOf(TABLE, [3], "goodput_mbps"), null);
});

test("a run is named by directory, path, scheme and number", () => {
    assert.equal(TABLE.id(1), "d1/india 2/bbr/2");
    assert.equal(TABLE.directoryLabel("d1"), "results");
    assert.equal(TABLE.directoryLabel("d9"), "d9");
});

test("a field varies if two runs differ in it, and as long as it has not been read", () => {
    assert.ok(TABLE.varies("scheme"));
    assert.ok(!TABLE.varies("directory"));
    assert.ok(TABLE.varies("nobody knows"));
});

test("a column that was not read is an error that names it", () => {
    assert.throws(() => TABLE.numbers("owd_p95_ms"), /owd_p95_ms/);
});

test("columns are fetched once, and again only after a failure", async () => {
    const runs = new Runs(TABLE.facts);
    const requests: string[] = [];
    let fails = true;
    const fetchColumn = async (name: string) => {
        requests.push(name);
        if (fails && name === "loss") throw new Error("offline");
        return { column: () => ({ values: new Float64Array(5), names: null }) } as never;
    };
    await assert.rejects(runs.load(["loss", "no such field"], fetchColumn), /offline/);
    assert.deepEqual(requests.sort(), ["directory", "loss", "path", "run", "scheme", "status"]);
    fails = false;
    await runs.load(["loss"], fetchColumn);
    assert.equal(requests.filter((name) => name === "loss").length, 2);
    assert.equal(requests.filter((name) => name === "scheme").length, 1);
    assert.ok(runs.has("loss"));
});

test("all pages have one table of the same facts", () => {
    assert.equal(runsOf(TABLE.facts), runsOf(TABLE.facts));
    assert.notEqual(runsOf(TABLE.facts), runsOf({ ...TABLE.facts }));
});
