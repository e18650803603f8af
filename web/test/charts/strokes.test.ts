import assert from "node:assert/strict";
import { test } from "node:test";
import { ownStroke, strokeOf } from "../../src/charts/strokes";

test("lines of different flows differ in colour and marker", () => {
    const strokes = [0, 1, 2, 3, 4, 5].map((tone) => strokeOf(tone, 0, false, false, "rtt"));
    assert.equal(new Set(strokes.map(({ color }) => color)).size, 6);
    assert.equal(new Set(strokes.map(({ marker }) => marker)).size, 6);
});

test("lines of one colour differ in their dashes", () => {
    const dashes = [0, 1, 2, 3].map((variant) => strokeOf(0, variant, false, false, "rtt").dashes.join());
    assert.equal(new Set(dashes).size, 4);
});

test("the capacity is grey, without a marker", () => {
    for (const name of ["capacity", "bdp"]) {
        const { color, marker } = strokeOf(3, 1, false, false, name);
        assert.equal(color, strokeOf(0, 0, false, false, "capacity").color);
        assert.equal(marker, "");
    }
});

test("a run that is laid over is dashed and has no markers", () => {
    const other = strokeOf(0, 0, true, false, "rtt");
    assert.deepEqual(other.dashes, [5, 4]);
    assert.equal(other.marker, "");
});

test("a flow with a look of its own keeps it in its first line, and its colour in the others", () => {
    const look = { color: "#123456", dashes: [9, 9], marker: "D" };
    assert.deepEqual(ownStroke(look, 0, "rtt", false), { ...look, width: 1.5 });
    const second = ownStroke(look, 1, "srtt", false);
    assert.equal(second.color, look.color);
    assert.notDeepEqual(second.dashes, look.dashes);
    assert.notEqual(ownStroke(look, 1, "capacity", false).color, look.color);
});
