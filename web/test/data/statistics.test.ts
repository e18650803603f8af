import assert from "node:assert/strict";
import { test } from "node:test";
import {
    areSignificant,
    confidenceInterval,
    criticalValue,
    type Difference,
    difference,
    estimate,
    meanOf,
} from "../../src/data/statistics";
import { close } from "../close";
import { CRITICAL } from "../table";
import core from "./core_values.json";

test("critical values are those of printed tables of Student's t", () => {
    for (const [freedom, printed] of [
        [4, 2.7764],
        [5, 2.5706],
        [9, 2.2622],
        [29, 2.0452],
        [120, 1.9799],
    ])
        close(criticalValue(CRITICAL, freedom!), printed!, 2e-5);
});

test("critical values for several tests are those of the level divided by their number", () => {
    // two-sided 5 % / 5 = 1 % at 10 and 20 degrees of freedom
    close(criticalValue(CRITICAL, 10, 5), 3.1693, 2e-5);
    close(criticalValue(CRITICAL, 20, 5), 2.8453, 2e-5);
});

test("critical values between whole degrees of freedom are the core's quantiles", () => {
    assert.ok(core.quantiles.length >= 100);
    for (const { tests, freedom, value } of core.quantiles) close(criticalValue(CRITICAL, freedom, tests), value, 1e-9);
});

test("a critical value at a node is the core's own number", () => {
    const two = { ...CRITICAL, inverse_freedom: [0.25, 0.125], weights: [1, -1], values: [[7, 3]] };
    assert.equal(criticalValue(two, 4), 7);
    assert.equal(criticalValue(two, 8), 3);
    // with two nodes the interpolation is a straight line over 1 / freedom
    close(criticalValue(two, 1 / 0.1875), 5, 1e-12);
});

test("critical values tend to the normal quantile", () => {
    close(criticalValue(CRITICAL, 1e12), 1.959963984540054, 1e-10);
});

test("critical values fall with the degrees of freedom and grow with the number of tests", () => {
    for (let freedom = 4; freedom < 200; freedom++)
        assert.ok(criticalValue(CRITICAL, freedom) > criticalValue(CRITICAL, freedom + 1));
    for (let tests = 1; tests < CRITICAL.values.length; tests++)
        assert.ok(criticalValue(CRITICAL, 6, tests + 1) > criticalValue(CRITICAL, 6, tests));
});

test("more tests than the core has values for are refused", () => {
    assert.throws(() => criticalValue(CRITICAL, 10, CRITICAL.values.length + 1), RangeError);
    assert.throws(() => criticalValue(CRITICAL, 10, 0), RangeError);
});

test("a sentence compares the best four schemes in two metrics: the core has values for as many tests", () => {
    assert.ok(CRITICAL.values.length >= 2 * ((4 * 3) / 2));
});

test("the mean of nothing is NaN", () => {
    assert.ok(Number.isNaN(meanOf([])));
    assert.equal(meanOf([1, 2, 6]), 3);
});

test("an estimate of no runs is null", () => {
    assert.equal(estimate([], CRITICAL), null);
});

test("an estimate of one run has no bounds", () => {
    assert.deepEqual(estimate([7], CRITICAL), { count: 1, mean: 7, low: null, high: null, bounds: null });
});

test("an estimate of four runs is their range", () => {
    assert.deepEqual(estimate([4, 1, 3, 2], CRITICAL), { count: 4, mean: 2.5, low: 1, high: 4, bounds: "range" });
});

test("equal runs are said to be equal, with their value as the mean", () => {
    const result = estimate([0.1, 0.1, 0.1, 0.1, 0.1, 0.1], CRITICAL);
    assert.deepEqual(result, { count: 6, mean: 0.1, low: 0.1, high: 0.1, bounds: "equal" });
});

test("an interval of values with a negative one is Student's alone", () => {
    // -1, 0, 1, 2, 3: mean 1, deviation sqrt(2.5), half 2.77645 sqrt(2.5 / 5) = 1.96324
    const [low, high] = confidenceInterval([-1, 0, 1, 2, 3], CRITICAL)!;
    close(low, 1 - 1.963243, 1e-5);
    close(high, 1 + 1.963243, 1e-5);
});

test("an interval of values that are not negative does not begin below zero", () => {
    const [low] = confidenceInterval([0, 0, 0, 0, 10], CRITICAL)!;
    assert.equal(low, 0);
});

test("an interval of positive values with a long tail reaches as far as that of their logarithms", () => {
    const interval = confidenceInterval([1, 1, 1, 1, 100], CRITICAL)!;
    const student = confidenceInterval([1, 1, 1, 1, 100], CRITICAL, true)!;
    assert.ok(interval[1] > student[1]);
});

test("an interval of fractions does not end beyond the whole", () => {
    const [, high] = confidenceInterval([0.5, 0.9, 1, 1, 1], CRITICAL, true)!;
    assert.equal(high, 1);
    const [, beyond] = confidenceInterval([0.5, 0.9, 1, 1, 1.01], CRITICAL, true)!;
    assert.ok(beyond > 1, "a value above 1 shows that it is no fraction");
});

test("there is no interval of values that are not finite", () => {
    assert.equal(confidenceInterval([1, 2, 3, 4, Number.POSITIVE_INFINITY], CRITICAL), null);
    assert.equal(confidenceInterval([1, 2, 3, 4, Number.NaN], CRITICAL), null);
});

test("intervals of random samples are the core's", () => {
    assert.ok(core.intervals.length >= 10);
    for (const { values, fraction, low, high } of core.intervals) {
        const interval = confidenceInterval(values, CRITICAL, fraction);
        if (low === null || high === null) assert.equal(interval, null);
        else {
            close(interval?.[0], low, 1e-9);
            close(interval?.[1], high, 1e-9);
        }
    }
});

test("differences of random samples are the core's", () => {
    assert.ok(core.differences.length >= 4);
    for (const { first, second, paired, low, high } of core.differences) {
        const result = difference(first, second, paired, CRITICAL);
        if (low === null || high === null) assert.equal(result, null);
        else {
            close(result?.low, low, 1e-9);
            close(result?.high, high, 1e-9);
        }
    }
});

test("the differences that are significant together are those that the core's adjusted probabilities say", () => {
    assert.ok(core.families.length >= 20);
    const counts = new Set<number>();
    for (const { samples, significant } of core.families) {
        const tests = samples.map(({ first, second, paired }) => difference(first, second, paired, CRITICAL)!);
        assert.deepEqual(areSignificant(tests, CRITICAL), significant);
        counts.add(significant.filter(Boolean).length);
    }
    assert.ok(counts.size > 3, "the families differ in how many of their differences are significant");
});

test("pairs find what their common scatter hides", () => {
    const first = [10, 20, 30, 40, 50];
    const second = [11.1, 20.9, 31, 41.2, 50.8];
    // differences 1.1, 0.9, 1, 1.2, 0.8: mean 1, deviation sqrt(0.025), error sqrt(0.005), t = 14.142
    const result = difference(first, second, true, CRITICAL)!;
    close(result.low, 0.8037, 1e-3);
    close(result.high, 1.1963, 1e-3);
    close(result.t, 14.1421, 1e-5);
    assert.equal(result.freedom, 4);
    assert.ok(Math.abs(difference(first, second, false, CRITICAL)!.t) < 0.2);
});

test("Welch's degrees of freedom of equal samples are twice those of one", () => {
    const result = difference([1, 2, 3, 4, 5], [2, 3, 4, 5, 6], false, CRITICAL)!;
    close(result.freedom, 8, 1e-12);
    // variance 2.5 each: error 1
    close(result.t, 1, 1e-12);
});

test("Welch's degrees of freedom are those of the side that scatters where the other does not", () => {
    close(difference([3, 3, 3, 3, 3, 3, 3], [1, 2, 3, 4, 5, 6], false, CRITICAL)!.freedom, 5, 1e-12);
});

test("too few runs, or runs without scatter, tell no difference", () => {
    assert.equal(difference([1, 2, 3, 4], [1, 2, 3, 4, 5], false, CRITICAL), null);
    assert.equal(difference([1, 1, 1, 1, 1], [2, 2, 2, 2, 2], false, CRITICAL), null);
    assert.equal(difference([1, 2, 3, 4, 5], [2, 3, 4, 5, 6], true, CRITICAL), null, "all pairs differ by 1");
});

/** Returns a difference with t just above (1) or below (-1) the critical value for `tests` tests. */
function near(tests: number, side: 1 | -1): Difference {
    return { low: 0, high: 0, freedom: 10, t: criticalValue(CRITICAL, 10, tests) * (1 + side * 1e-6) };
}

test("of tests made at once, each that is decided lowers the bar for the rest", () => {
    assert.deepEqual(areSignificant([near(1, 1), near(3, 1), near(2, 1)], CRITICAL), [true, true, true]);
    assert.deepEqual(areSignificant([near(1, 1), near(3, 1), near(2, -1)], CRITICAL), [false, true, false]);
    assert.deepEqual(areSignificant([near(1, 1), near(3, -1), near(2, 1)], CRITICAL), [false, false, false]);
});

test("the sign of a difference does not matter, and no tests decide nothing", () => {
    const { t, ...rest } = near(1, 1);
    assert.deepEqual(areSignificant([{ ...rest, t: -t }], CRITICAL), [true]);
    assert.deepEqual(areSignificant([], CRITICAL), []);
});
