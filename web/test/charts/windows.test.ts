import assert from "node:assert/strict";
import { test } from "node:test";
import { identity } from "../../src/charts/windows";

test("a source keeps its number, and no two have the same", () => {
    const [one, other] = [{}, {}];
    assert.equal(identity(one), identity(one));
    assert.notEqual(identity(one), identity(other));
});
