import assert from "node:assert/strict";
import { test } from "node:test";
import { keyView } from "../../src/charts/gestures";

const WHOLE = { from: 0, to: 100_000 };
const VIEW = { from: 40_000, to: 60_000 };
const PLAIN = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

function viewAfterKey(key: string, more: Partial<typeof PLAIN> = {}, at: number | null = null, inside = true) {
    return keyView({ ...PLAIN, key, ...more } as KeyboardEvent, VIEW, WHOLE, at, inside);
}

test("w and + zoom in, s and - zoom out, around the middle", () => {
    for (const key of ["w", "W", "+", "="]) assert.deepEqual(viewAfterKey(key), { from: 45_000, to: 55_000 });
    for (const key of ["s", "S", "-"]) assert.deepEqual(viewAfterKey(key), { from: 30_000, to: 70_000 });
});

test("keys zoom around the cursor where it is in sight", () => {
    assert.deepEqual(viewAfterKey("w", {}, 40_000), { from: 40_000, to: 50_000 });
    assert.deepEqual(viewAfterKey("w", {}, 99_000), { from: 45_000, to: 55_000 });
});

test("a and d move by a part of the window, with Shift by half of it", () => {
    assert.deepEqual(viewAfterKey("d"), { from: 43_000, to: 63_000 });
    assert.deepEqual(viewAfterKey("a"), { from: 37_000, to: 57_000 });
    assert.deepEqual(viewAfterKey("D", { shiftKey: true }), { from: 50_000, to: 70_000 });
});

test("0 shows the whole, Home only where a diagram has the focus", () => {
    assert.deepEqual(viewAfterKey("0"), WHOLE);
    assert.deepEqual(viewAfterKey("Home"), WHOLE);
    assert.equal(viewAfterKey("Home", {}, null, false), null);
});

test("arrows belong to the page unless a diagram has the focus", () => {
    assert.deepEqual(viewAfterKey("ArrowRight"), { from: 43_000, to: 63_000 });
    assert.equal(viewAfterKey("ArrowRight", {}, null, false), null);
    assert.equal(viewAfterKey("ArrowUp"), null, "it scrolls");
    assert.deepEqual(viewAfterKey("ArrowUp", { shiftKey: true }), { from: 45_000, to: 55_000 });
});

test("keys of the browser and other keys mean nothing here", () => {
    assert.equal(viewAfterKey("w", { ctrlKey: true }), null);
    assert.equal(viewAfterKey("+", { metaKey: true }), null);
    assert.equal(viewAfterKey("a", { altKey: true }), null);
    assert.equal(viewAfterKey("q"), null);
    assert.equal(viewAfterKey("Enter"), null);
});
