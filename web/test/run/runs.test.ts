import assert from "node:assert/strict";
import { test } from "node:test";
import { likelyOthers, runIdentities } from "../../src/run/runs";
import { type ColumnData, encodeColumns } from "../encoded";
import { tableOf } from "../table";

const ALL = [
    "d1/a/cubic/1",
    "d1/a/bbr/1",
    "d2/a/cubic/1",
    "d1/b/cubic/1",
    "d1/b/bbr/1",
    "d2/b/bbr/1",
    "d1/a/cubic/2",
    "d2/a/bbr/1",
];

test("runs on the same path come first, then those of the scheme, then others", () => {
    assert.deepEqual(likelyOthers("d1/a/cubic/1", ALL, 10), [
        "d1/a/cubic/2",
        "d2/a/cubic/1",
        "d1/a/bbr/1",
        "d2/a/bbr/1",
        "d1/b/cubic/1",
        "d1/b/bbr/1",
        "d2/b/bbr/1",
    ]);
});

test("not more are named than asked for, and never the run itself", () => {
    assert.deepEqual(likelyOthers("d1/a/cubic/1", ALL, 2), ["d1/a/cubic/2", "d2/a/cubic/1"]);
    assert.deepEqual(likelyOthers("d1/a/cubic/1", ALL, 0), []);
    assert.deepEqual(likelyOthers("d1/a/cubic/1", ["d1/a/cubic/1"], 5), []);
});

test("equally likely ones keep their order", () => {
    assert.deepEqual(likelyOthers("d1/a/cubic/1", ["d1/a/bbr/2", "d1/a/bbr/1"], 5), ["d1/a/bbr/2", "d1/a/bbr/1"]);
});

/** Answers requests for columns with these; a column that is not among them is refused. */
function answer(columns: Record<string, ColumnData>): () => void {
    const before = globalThis.fetch;
    globalThis.fetch = async (address) => {
        const column = columns[/columns\/(.*)\.bin$/.exec(String(address))?.[1] ?? ""];
        return column ? new Response(encodeColumns({}, [column])) : new Response("no field", { status: 404 });
    };
    return () => {
        globalThis.fetch = before;
    };
}

test("the identities of all runs are in the order of the table", async () => {
    const { facts } = tableOf({ run: [1, 1, 2] });
    const restore = answer({
        directory: { name: "values", type: "u32", values: [0, 0, 0], names: ["d1"] },
        path: { name: "values", type: "u32", values: [0, 1, 0xffffffff], names: ["a", "b"] },
        scheme: { name: "values", type: "u32", values: [0, 0, 0], names: ["cubic"] },
        run: { name: "values", type: "f64", values: [1, 1, 2] },
    });
    assert.deepEqual(await runIdentities(facts), ["d1/a/cubic/1", "d1/b/cubic/1", "d1//cubic/2"]);
    restore();
});

test("directories without texts are numbers of those that are shown", async () => {
    const { facts } = tableOf({ run: [7] });
    const restore = answer({
        directory: { name: "values", type: "f64", values: [0] },
        path: { name: "values", type: "u32", values: [0], names: ["a"] },
        scheme: { name: "values", type: "u32", values: [0], names: ["cubic"] },
        run: { name: "values", type: "f64", values: [7] },
    });
    assert.deepEqual(await runIdentities(facts), ["d1/a/cubic/7"]);
    restore();
});

test("a page of one run has no others", async () => {
    const restore = answer({});
    assert.deepEqual(await runIdentities(tableOf({ run: [1] }).facts), []);
    restore();
});
