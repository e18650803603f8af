import assert from "node:assert/strict";
import { test } from "node:test";
import {
    axisRange,
    exactTime,
    roundStep,
    spanText,
    timeIn,
    timeTicks,
    valueText,
    valueTicks,
} from "../../src/charts/ticks";
import { close } from "../close";

test("a time keeps every nanosecond", () => {
    assert.equal(exactTime(1_234_567_891), "1.234567891 s");
    assert.equal(exactTime(86_400_000_000_001), "86400.000000001 s");
    assert.equal(exactTime(0), "0.000000000 s");
});

test("a time is rounded to the digits asked for, into the next second too", () => {
    assert.equal(exactTime(1_999_999_999, 3), "2.000 s");
    assert.equal(exactTime(1_500_000_000, 0), "2 s");
    assert.equal(exactTime(1_499_999_999, 0), "1 s");
});

test("a time before the start has a minus, but zero has none", () => {
    assert.equal(exactTime(-2_500_000_000, 1), "−2.5 s");
    assert.equal(exactTime(-1, 3), "0.000 s");
});

test("a time in a window has about a thousandth of it", () => {
    assert.equal(timeIn(1_234_567_891, 60e9), "1.23 s");
    assert.equal(timeIn(1_234_567_891, 1e9), "1.235 s");
    assert.equal(timeIn(1_234_567_891, 100), "1.234567891 s");
    assert.equal(timeIn(1_234_567_891, 1e13), "1 s");
});

test("a span has four digits and a unit that suits it", () => {
    assert.equal(spanText(1), "1 ns");
    assert.equal(spanText(999), "999 ns");
    assert.equal(spanText(1500), "1.5 µs");
    assert.equal(spanText(123_456_000), "123.5 ms");
    assert.equal(spanText(12_345_600_000), "12.35 s");
    assert.equal(spanText(100e9), "100 s");
});

test("a span of nothing, and one that goes back", () => {
    assert.equal(spanText(0), "0 ns");
    assert.equal(spanText(-1500), "−1.5 µs");
});

test("a step is 1, 2 or 5 times a power of ten", () => {
    assert.equal(roundStep(10, 10), 1);
    assert.equal(roundStep(10, 7), 2);
    assert.equal(roundStep(10, 4), 5);
    assert.equal(roundStep(10, 1.5), 10);
    close(roundStep(0.003, 10), 0.0005);
});

test("a step for fewer than one tick is one for the whole span", () => {
    assert.equal(roundStep(10, 0), roundStep(10, 1));
    assert.equal(roundStep(10, -5), 10);
});

test("ticks of time lie within the window, evenly, and are not more than asked for", () => {
    for (const [from, to] of [
        [0, 60e9],
        [1_234_567_891, 1_234_667_891],
        [59_999_999_000, 60_000_000_000],
        [7, 107],
        [0, 86_400e9],
    ] as const)
        for (const count of [2, 5, 10]) {
            const { times, labels } = timeTicks({ from, to }, count);
            assert.ok(times.length >= 1 && times.length <= count + 1, `${times.length} of ${count}`);
            assert.equal(labels.length, times.length);
            assert.equal(new Set(labels).size, labels.length, "no two labels are alike");
            assert.ok(times.every((time) => time >= from && time <= to));
            const steps = times.slice(1).map((time, index) => time - times[index]!);
            assert.equal(new Set(steps).size <= 1, true);
        }
});

test("ticks of a window of seconds have as few digits as they need", () => {
    const { labels, base } = timeTicks({ from: 0, to: 10e9 }, 5);
    assert.deepEqual(labels, ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]);
    assert.equal(base, "");
    assert.deepEqual(timeTicks({ from: 0, to: 1e9 }, 2).labels, ["0.0 s", "0.5 s", "1.0 s"]);
});

test("ticks of a short window count from a round time at its left", () => {
    const { labels, base } = timeTicks({ from: 1_234_567_891, to: 1_234_577_891 }, 5);
    assert.equal(base, "1.2345 s +");
    assert.deepEqual(labels, ["+68 µs", "+70 µs", "+72 µs", "+74 µs", "+76 µs"]);
});

test("ticks of a window of nanoseconds are whole nanoseconds", () => {
    const { times, labels } = timeTicks({ from: 1_000_000_007, to: 1_000_000_017 }, 100);
    assert.equal(times.length, 11);
    assert.ok(labels.every((label) => /^\+\d+ ns$/.test(label)));
});

test("a range begins at zero where that wastes less than half of it", () => {
    assert.deepEqual(axisRange(4, 10), [0, 10 + 6 * 0.06]);
    const [low] = axisRange(6, 10);
    close(low, 6 - 4 * 0.06);
});

test("a range of negative values is theirs, with a little room", () => {
    const [low, high] = axisRange(-10, -5);
    close(low, -10.3);
    close(high, -4.7);
});

test("a range of one value has room around it", () => {
    assert.deepEqual(axisRange(100, 100), [95, 105]);
    assert.deepEqual(axisRange(0, 0), [0, 1]);
    assert.deepEqual(axisRange(-100, -100), [-105, -95]);
});

test("a range of nothing is from 0 to 1", () => {
    assert.deepEqual(axisRange(Number.NaN, Number.NaN), [0, 1]);
    assert.deepEqual(axisRange(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY), [0, 1]);
});

test("ticks of values lie within the axis and are about as many as asked for", () => {
    for (const [low, high] of [
        [0, 1],
        [-3, 7],
        [0, 0.00012],
        [99.5, 100.5],
        [0, 3.3e9],
        [-5e6, -1e6],
    ] as const)
        for (const count of [2, 4, 8]) {
            const { values, labels } = valueTicks(low, high, count);
            const room = (high - low) * 1e-9;
            assert.ok(values.length >= 1 && values.length <= count + 1, `${values.length} of ${count}`);
            assert.ok(values.every((value) => value >= low - room && value <= high + room));
            assert.equal(new Set(labels).size, labels.length, `${labels}`);
        }
});

test("labels have the digits of their step, and zero has none", () => {
    assert.deepEqual(valueTicks(0, 1, 4).labels, ["0", "0.5", "1.0"]);
    assert.deepEqual(valueTicks(-1, 1, 4).labels, ["-1.0", "-0.5", "0", "0.5", "1.0"]);
});

test("large values are in thousands, millions or milliards", () => {
    assert.deepEqual(valueTicks(0, 200_000, 2).labels, ["0", "100k", "200k"]);
    assert.deepEqual(valueTicks(0, 2e6, 2).labels, ["0", "1M", "2M"]);
    assert.deepEqual(valueTicks(0, 3e9, 3).labels, ["0", "1G", "2G", "3G"]);
    assert.deepEqual(valueTicks(0, 90_000, 2).labels, ["0", "50000"]);
});

test("a value is read in five digits", () => {
    assert.equal(valueText(1234.5678), "1234.6");
    assert.equal(valueText(5.14159), "5.1416");
    assert.equal(valueText(0.0123456), "0.012346");
    assert.equal(valueText(123456.7), "123457");
    assert.equal(valueText(1.5), "1.5");
});

test("whole numbers are read as they are, what is very small or large with a power", () => {
    assert.equal(valueText(123456789), "123456789");
    assert.equal(valueText(-42), "-42");
    assert.equal(valueText(0), "0");
    assert.equal(valueText(0.000012345), "0.00001234");
    assert.equal(valueText(1.5e16), "1.500e+16");
    assert.equal(valueText(Number.NaN), "-");
});
