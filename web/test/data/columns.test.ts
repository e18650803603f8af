import assert from "node:assert/strict";
import { test } from "node:test";
import { Columns, decodeColumns } from "../../src/data/columns";
import { encodeColumns } from "../encoded";

test("numbers of every type come back", () => {
    const table = decodeColumns(
        encodeColumns({ rows: 3 }, [
            { name: "a", type: "f64", values: [1.5, Number.NaN, -1e300] },
            { name: "b", type: "f32", values: [0.5, -0.25, 3] },
            { name: "c", type: "u8", values: [0, 255, 7] },
            { name: "d", type: "i32", values: [-1, 2 ** 31 - 1, 0] },
            { name: "e", type: "u32", values: [2 ** 32 - 1, 0, 1] },
        ]),
    );
    assert.deepEqual([...table.numbers("a")], [1.5, Number.NaN, -1e300]);
    assert.deepEqual([...table.numbers("b")], [0.5, -0.25, 3]);
    assert.deepEqual([...table.numbers("c")], [0, 255, 7]);
    assert.deepEqual([...table.numbers("d")], [-1, 2 ** 31 - 1, 0]);
    assert.deepEqual([...table.numbers("e")], [2 ** 32 - 1, 0, 1]);
    assert.deepEqual(table.meta, { rows: 3 });
});

test("columns of bytes keep those behind them aligned", () => {
    const table = decodeColumns(
        encodeColumns(null, [
            { name: "bytes", type: "u8", values: [1, 2, 3] },
            { name: "after", type: "f64", values: [Math.PI] },
        ]),
    );
    assert.deepEqual([...table.numbers("after")], [Math.PI]);
});

test("texts are codes, and a code that no text has is none", () => {
    const table = decodeColumns(
        encodeColumns({}, [{ name: "path", type: "u32", values: [1, 0, 0xffffffff], names: ["a", "b"] }]),
    );
    assert.deepEqual(
        [0, 1, 2, 3].map((row) => table.text("path", row)),
        ["b", "a", "", ""],
    );
});

test("a column of numbers has no texts", () => {
    const table = decodeColumns(encodeColumns({}, [{ name: "a", type: "f64", values: [0] }]));
    assert.equal(table.column("a").names, null);
    assert.equal(table.text("a", 0), "");
});

test("an empty table has its columns, with no rows", () => {
    const table = decodeColumns(encodeColumns({}, [{ name: "a", type: "f64", values: [] }]));
    assert.equal(table.numbers("a").length, 0);
    assert.ok(table.has("a"));
    assert.ok(!table.has("b"));
});

test("a table can begin behind another one", () => {
    const table = decodeColumns(encodeColumns({ second: true }, [{ name: "a", type: "f32", values: [2] }], 16), 16);
    assert.deepEqual(table.meta, { second: true });
    assert.deepEqual([...table.numbers("a")], [2]);
});

test("a header of more than ASCII is read by its bytes", () => {
    const table = decodeColumns<{ title: string }>(
        encodeColumns({ title: "Überlast ≥ 1" }, [{ name: "a", type: "u32", values: [0], names: ["größer"] }]),
    );
    assert.equal(table.meta.title, "Überlast ≥ 1");
    assert.equal(table.text("a", 0), "größer");
});

test("a column that is not there is named with those that are", () => {
    const table = new Columns({}, new Map([["a", { values: new Float64Array(1), names: null }]]));
    assert.throws(() => table.column("b"), /no column b: there are a/);
});

test("bytes that were cut off are refused", () => {
    const buffer = encodeColumns({}, [{ name: "a", type: "f64", values: [1, 2, 3] }]);
    assert.throws(() => decodeColumns(buffer.slice(0, buffer.byteLength - 8)), RangeError);
});
