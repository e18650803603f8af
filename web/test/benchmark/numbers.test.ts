import assert from "node:assert/strict";
import test from "node:test";
import { best, decimals, fixed, medianGain, shownNumbers } from "../../src/benchmark/numbers";
import type { Metric } from "../../src/data/benchmark";

const METRIC: Metric = { name: "u", title: "u", unit: "", better: "more", level: "network", formula: "" };

test("numbers beside each other have the same decimals", () => {
    assert.equal(decimals([94.31, 7.2]), 2);
    assert.equal(decimals([0.0123]), 5);
    assert.equal(decimals([126395, 79390.2]), 0);
    assert.equal(decimals([1, 3]), 0);
    assert.equal(decimals([]), 0);
    assert.equal(fixed(-0.0001, 2), "0.00");
    assert.equal(fixed(0, 4), "0");
});

test("the best is what is shown as the best, and none if all are alike", () => {
    assert.deepEqual(best(["1.0", "1.0", "0.9", null], [1.04, 0.96, 0.9, null], "more"), [true, true, false, false]);
    assert.deepEqual(best(["1.0", "0.9"], [1.0, 0.9], "less"), [false, true]);
    assert.deepEqual(best(["1.0", "1.0"], [1.0, 1.0], "more"), [false, false]);
    assert.deepEqual(best(["1.0", "0.9"], [1.0, 0.9], "neutral"), [false, false]);
});

test("means over different cells have no best one, and say over how many they are", () => {
    const values = {
        a: { mean: 0.5, low: 0.4, high: 0.6, cells: 2 },
        b: { mean: 0.75, low: 0.75, high: 0.75, cells: 1 },
    };
    const cells = shownNumbers({ metric: METRIC, comparable: false, values }, ["a", "b", "c"], 2);
    assert.deepEqual(cells, [
        { text: "0.5000", small: "[0.4000, 0.6000]", best: false },
        { text: "0.7500", small: " in 1 of 2 cells", best: false },
        null,
    ]);
    const [, b] = shownNumbers({ metric: METRIC, comparable: true, values }, ["a", "b"], 2);
    assert.equal(b!.best, true);
});

test("a gain is the median in percent", () => {
    assert.equal(medianGain([]), "-");
    assert.equal(medianGain([0.1, -0.3, 0.02]), "+2.0");
    assert.equal(medianGain([0, -0.25]), "-12.5");
    assert.equal(medianGain([0]), "0");
});
