import assert from "node:assert/strict";
import { test } from "node:test";
import { around, limit, move, plotOf, sameView, timeAt, viewBetween, xOf, zoom } from "../../src/charts/view";
import { close } from "../close";

const WHOLE = { from: 0, to: 10e9 };

test("a window within the whole stays as it is", () => {
    assert.deepEqual(limit({ from: 1e9, to: 2e9 }, WHOLE), { from: 1e9, to: 2e9 });
});

test("a window that reaches beyond an end is moved back, not cut", () => {
    assert.deepEqual(limit({ from: -1e9, to: 1e9 }, WHOLE), { from: 0, to: 2e9 });
    assert.deepEqual(limit({ from: 9e9, to: 12e9 }, WHOLE), { from: 7e9, to: 10e9 });
});

test("a window longer than the whole is the whole", () => {
    assert.deepEqual(limit({ from: -5e9, to: 50e9 }, WHOLE), WHOLE);
});

test("a window is not shorter than 100 ns, unless the whole is", () => {
    assert.deepEqual(limit({ from: 5, to: 6 }, WHOLE), { from: 5, to: 105 });
    assert.deepEqual(limit({ from: 5, to: 6 }, { from: 0, to: 40 }), { from: 0, to: 40 });
});

test("a reversed window becomes the shortest at its beginning", () => {
    assert.deepEqual(limit({ from: 2e9, to: 1e9 }, WHOLE), { from: 2e9, to: 2e9 + 100 });
});

test("ends of windows are whole nanoseconds", () => {
    const { from, to } = limit({ from: 1.4, to: 1000.6 }, WHOLE);
    assert.ok(Number.isInteger(from) && Number.isInteger(to));
});

test("zooming keeps the time under the pointer where it is", () => {
    const view = { from: 2e9, to: 6e9 };
    const zoomedView = zoom(view, WHOLE, 0.5, 3e9);
    assert.deepEqual(zoomedView, { from: 2.5e9, to: 4.5e9 });
    close((3e9 - zoomedView.from) / (zoomedView.to - zoomedView.from), (3e9 - view.from) / (view.to - view.from));
});

test("zooming without a pointer keeps the middle", () => {
    assert.deepEqual(zoom({ from: 2e9, to: 6e9 }, WHOLE, 0.5), { from: 3e9, to: 5e9 });
});

test("zooming in and out again comes back, and out ends at the whole", () => {
    const view = { from: 3e9, to: 5e9 };
    assert.deepEqual(zoom(zoom(view, WHOLE, 0.25), WHOLE, 4), view);
    assert.deepEqual(zoom(view, WHOLE, 1000), WHOLE);
});

test("zooming in ends at 100 ns", () => {
    const { from, to } = zoom({ from: 3e9, to: 3e9 + 200 }, WHOLE, 1e-6);
    assert.equal(to - from, 100);
});

test("moving keeps the length, also at the ends", () => {
    const view = { from: 2e9, to: 6e9 };
    assert.deepEqual(move(view, WHOLE, 0.25), { from: 3e9, to: 7e9 });
    assert.deepEqual(move(view, WHOLE, -5), { from: 0, to: 4e9 });
    assert.deepEqual(move(view, WHOLE, 5), { from: 6e9, to: 10e9 });
});

test("a moment is shown with a margin of a two-hundredth of the whole", () => {
    assert.deepEqual(around(5e9, 5e9, WHOLE), { from: 4.95e9, to: 5.05e9 });
});

test("a span is shown with a quarter of it on either side", () => {
    assert.deepEqual(around(4e9, 6e9, WHOLE), { from: 3.5e9, to: 6.5e9 });
});

test("views are the same if both ends are", () => {
    assert.ok(sameView({ from: 1, to: 2 }, { from: 1, to: 2 }));
    assert.ok(!sameView({ from: 1, to: 2 }, { from: 1, to: 3 }));
    assert.ok(!sameView({ from: 0, to: 2 }, { from: 1, to: 2 }));
});

test("a time is at the place whose time it is", () => {
    const view = { from: 2e9, to: 6e9 };
    const plot = plotOf(1000);
    assert.equal(xOf(view.from, view, plot), plot.left);
    assert.equal(xOf(view.to, view, plot), plot.right);
    for (const time of [2e9, 3.3e9, 6e9, 9e9, -1e9]) close(timeAt(xOf(time, view, plot), view, plot), time);
});

test("narrow pages have narrower gutters", () => {
    assert.deepEqual(plotOf(559), { left: 46, right: 549 });
    assert.deepEqual(plotOf(560), { left: 60, right: 550 });
});

test("two times are a view whichever is first, in whole nanoseconds", () => {
    assert.deepEqual(viewBetween(7.6, 3.2), { from: 3, to: 8 });
    assert.deepEqual(viewBetween(3.2, 7.6), { from: 3, to: 8 });
});
