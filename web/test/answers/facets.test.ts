import assert from "node:assert/strict";
import { test } from "node:test";
import { facetsOf, filterOf, isMix, partsOf, tableAddress } from "../../src/answers/facets";
import { readFilters } from "../../src/data/runs";
import { allRows, tableOf, textField } from "../table";

const LOOK = { title: "", color: "", marker: "", dashes: [], family: "" };
const SCHEMES = { cubic: LOOK, bbr: LOOK, copa: LOOK };

function table(path: string[], scheme: string[], more: Record<string, string[]> = {}) {
    const columns = { directory: path.map(() => "d1"), status: path.map(() => "done"), path, scheme };
    return tableOf({ ...columns, ...more }, [], { schemes: SCHEMES });
}

test("a mix is named with a plus", () => {
    assert.ok(isMix("cubic+bbr"));
    assert.ok(!isMix("cubic"));
    assert.ok(!isMix(""));
});

test("parts of a mix have their numbers of flows", () => {
    assert.deepEqual(
        [...partsOf("cubic*2+bbr")],
        [
            ["cubic", 2],
            ["bbr", 1],
        ],
    );
    assert.deepEqual([...partsOf("cubic + cubic*3")], [["cubic", 4]]);
    assert.deepEqual([...partsOf("copa")], [["copa", 1]]);
    assert.deepEqual([...partsOf("a*b")], [["a*b", 1]], "what is no number belongs to the name");
});

test("a facet is a path with its schemes", () => {
    const runs = table(["a", "a", "b", "a"], ["cubic", "bbr", "cubic", "cubic"]);
    const facets = facetsOf(runs, allRows(runs), {});
    assert.deepEqual(
        facets.map(({ title, schemes }) => [title, ...schemes.map(({ scheme, rows }) => `${scheme} ${rows}`)]),
        [
            ["a", "cubic 0,3", "bbr 1"],
            ["b", "cubic 2"],
        ],
    );
});

test("schemes come as the experiment has them, mixes behind them, unknown ones last of each", () => {
    const names = ["zeta", "copa+bbr", "bbr", "cubic+bbr", "cubic", "alpha"];
    const runs = table(
        names.map(() => "a"),
        names,
    );
    assert.deepEqual(
        facetsOf(runs, allRows(runs), {})[0]!.schemes.map(({ scheme }) => scheme),
        ["cubic", "bbr", "alpha", "zeta", "cubic+bbr", "copa+bbr"],
    );
});

test("runs that did not go well are left out of a facet, their scheme is not", () => {
    const runs = table(["a", "a"], ["cubic", "bbr"], { status: ["failed", "done"] });
    assert.deepEqual(facetsOf(runs, allRows(runs), {})[0]!.schemes, [
        { scheme: "cubic", rows: [] },
        { scheme: "bbr", rows: [1] },
    ]);
});

test("where several directories are shown each facet says which it is of", () => {
    const runs = table(["a", "a"], ["cubic", "cubic"], { directory: ["d1", "d2"] });
    const [first] = runs.facts.directories;
    runs.facts.directories.push({ ...first!, id: "d2", label: "other" });
    const facets = facetsOf(runs, allRows(runs), {});
    assert.deepEqual(
        facets.map(({ title }) => title),
        ["a (results)", "a (other)"],
    );
    assert.deepEqual(filterOf(runs, facets[1]!, "cubic"), ["directory:d2", "path:a", "scheme:cubic"]);
});

test("a facet whose flows compete with others says so", () => {
    const axis = textField("axis:versus", { group: "axis" });
    for (const [value, expected] of [
        ["bbr", true],
        ["", false],
        ["alone", false],
    ] as const) {
        const columns = { directory: ["d1"], status: ["done"], path: ["a"], scheme: ["cubic"], "axis:versus": [value] };
        const runs = tableOf(columns, [axis]);
        assert.equal(facetsOf(runs, allRows(runs), {})[0]!.beside, expected, value);
    }
});

test("no rows have no facets", () => {
    assert.deepEqual(facetsOf(table(["a"], ["cubic"]), new Uint32Array(), {}), []);
});

test("the filter of a facet finds its runs", () => {
    const runs = table(["a", "b"], ["cubic", "cubic"]);
    const entries = filterOf(runs, facetsOf(runs, allRows(runs), {})[1]!);
    assert.deepEqual(entries, ["path:b"]);
    assert.deepEqual(readFilters(entries, runs.fields).unknown, []);
});

test("the address of a table replaces filters of the same fields and keeps the others", () => {
    const address = tableAddress(["path:x", "scheme:bbr", "run:1..2"], ["path:a b", "scheme:c&d"]);
    assert.deepEqual(new URLSearchParams(address.replace("#/runs?", "")).getAll("filter"), [
        "run:1..2",
        "path:a b",
        "scheme:c&d",
    ]);
});
