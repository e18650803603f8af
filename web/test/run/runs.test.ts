import assert from "node:assert/strict";
import { test } from "node:test";
import { likelyOthers } from "../../src/run/runs";

const ALL = ["d1/a/cubic/1", "d1/a/bbr/1", "d2/a/cubic/1", "d1/b/cubic/1", "d1/b/bbr/1", "d2/b/bbr/1", "d1/a/cubic/2"];

test("runs on the same path come first, then those of the scheme, then others", () => {
    assert.deepEqual(likelyOthers("d1/a/cubic/1", ALL, 10), [
        "d1/a/cubic/2",
        "d2/a/cubic/1",
        "d1/a/bbr/1",
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
