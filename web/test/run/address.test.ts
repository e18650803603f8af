import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeName, listOf, listText, partOf, runMeant, runPage } from "../../src/run/address";

test("a list of names comes back from its text", () => {
    for (const names of [["a"], ["a,b", "c"], ["50 %", "link x/y"], ["ü", "\u202e"], ["a%2Cb"]])
        assert.deepEqual(listOf(listText(names)), names);
});

test("an empty list has no text, and no text is an empty list", () => {
    assert.equal(listText([]), null);
    assert.deepEqual(listOf(null), []);
    assert.deepEqual(listOf(""), []);
    assert.deepEqual(listOf(",a,,b,"), ["a", "b"]);
});

test("a percent sign of its own stays", () => {
    assert.equal(decodeName("100%"), "100%");
    assert.equal(decodeName("a%20b"), "a b");
    assert.equal(decodeName("%E0%A4%A"), "%E0%A4%A");
});

test("a part of time needs two numbers, the second larger", () => {
    assert.deepEqual(partOf("10", "20"), { from: 10, to: 20 });
    assert.deepEqual(partOf("0", "1e9"), { from: 0, to: 1e9 });
    for (const [from, to] of [
        ["20", "10"],
        ["10", "10"],
        ["x", "10"],
        ["10", "Infinity"],
        [null, "10"],
        ["10", ""],
    ] as const)
        assert.equal(partOf(from, to), null, `${from} ${to}`);
});

test("a run is meant by its identity or by the address of its page", () => {
    for (const id of ["d1/path/cubic/1", "d1/a b/cubic*2+bbr/3", "d1/50 %/ü/1"]) {
        assert.equal(runMeant(`http://127.0.0.1:8000/#/${runPage(id)}?from=1&to=2`), id);
        assert.equal(runMeant(` ${id} `), id);
    }
});

test("slashes divide the parts of a page, other signs are coded", () => {
    assert.equal(runPage("d1/a?b/c#d/1"), "run/d1/a%3Fb/c%23d/1");
});
