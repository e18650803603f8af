import assert from "node:assert/strict";
import { test } from "node:test";
import { numberText, timeText } from "../../src/data/numbers";

test("a time has the unit that suits it", () => {
    assert.equal(timeText(2_500_000_000), "2.500 s");
    assert.equal(timeText(2_500_000), "2.500 ms");
    assert.equal(timeText(2_500), "2.500 µs");
    assert.equal(timeText(25), "25 ns");
});

test("a time has the unit of the span that is looked at, with a thousandth of it", () => {
    assert.equal(timeText(1_234_567_891, 1_000_000), "1234.568 ms");
    assert.equal(timeText(1_234_567_891, 60e9), "1.23 s");
});

test("no time is zero nanoseconds", () => {
    assert.equal(timeText(0), "0 ns");
});

test("a time before the start keeps its sign", () => {
    assert.equal(timeText(-2_500_000), "-2.500 ms");
});

test("a number that is none is a dash", () => {
    for (const none of [null, undefined, Number.NaN]) assert.equal(numberText(none), "-");
});

test("a number has so many digits behind the point", () => {
    assert.equal(numberText(5.14159), "5.142");
    assert.equal(numberText(5.14159, 1), "5.1");
    assert.equal(numberText(0), "0.000");
});

test("a small number is told from zero", () => {
    assert.equal(numberText(0.00012), "0.00012");
    assert.equal(numberText(-0.00012), "-0.00012");
    assert.equal(numberText(0.001), "0.001");
});
