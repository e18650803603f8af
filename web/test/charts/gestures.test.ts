import assert from "node:assert/strict";
import { test } from "node:test";
import { keyView } from "../../src/charts/gestures";

const WHOLE = { from: 0, to: 100_000 };
const VIEW = { from: 40_000, to: 60_000 };
const PLAIN = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

function pressed(key: string, more: Partial<typeof PLAIN> = {}, at: number | null = null, inside = true) {
    return keyView({ ...PLAIN, key, ...more } as KeyboardEvent, VIEW, WHOLE, at, inside);
}

test("w and + zoom in, s and - zoom out, around the middle", () => {
    for (const key of ["w", "W", "+", "="]) assert.deepEqual(pressed(key), { from: 45_000, to: 55_000 });
    for (const key of ["s", "S", "-"]) assert.deepEqual(pressed(key), { from: 30_000, to: 70_000 });
});

test("keys zoom around the cursor where it is in sight", () => {
    assert.deepEqual(pressed("w", {}, 40_000), { from: 40_000, to: 50_000 });
    assert.deepEqual(pressed("w", {}, 99_000), { from: 45_000, to: 55_000 });
});

test("a and d move by a part of the window, with Shift by half of it", () => {
    assert.deepEqual(pressed("d"), { from: 43_000, to: 63_000 });
    assert.deepEqual(pressed("a"), { from: 37_000, to: 57_000 });
    assert.deepEqual(pressed("D", { shiftKey: true }), { from: 50_000, to: 70_000 });
});

test("0 shows the whole, Home only where a diagram has the focus", () => {
    assert.deepEqual(pressed("0"), WHOLE);
    assert.deepEqual(pressed("Home"), WHOLE);
    assert.equal(pressed("Home", {}, null, false), null);
});

test("arrows belong to the page unless a diagram has the focus", () => {
    assert.deepEqual(pressed("ArrowRight"), { from: 43_000, to: 63_000 });
    assert.equal(pressed("ArrowRight", {}, null, false), null);
    assert.equal(pressed("ArrowUp"), null, "it scrolls");
    assert.deepEqual(pressed("ArrowUp", { shiftKey: true }), { from: 45_000, to: 55_000 });
});

test("keys of the browser and other keys mean nothing here", () => {
    assert.equal(pressed("w", { ctrlKey: true }), null);
    assert.equal(pressed("+", { metaKey: true }), null);
    assert.equal(pressed("a", { altKey: true }), null);
    assert.equal(pressed("q"), null);
    assert.equal(pressed("Enter"), null);
});
