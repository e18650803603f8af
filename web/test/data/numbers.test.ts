import assert from "node:assert/strict";
import { test } from "node:test";
import { numberText, timeText, withShortNumbers } from "../../src/data/numbers";

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
    for (const empty of [null, undefined, Number.NaN]) assert.equal(numberText(empty), "-");
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

test("a message has no long rows of digits", () => {
    assert.equal(
        withShortNumbers(`slot_ms = 0.${"0".repeat(319)}1, which must be at least 0.001`),
        "slot_ms = 1e-320, which must be at least 0.001",
    );
    assert.equal(withShortNumbers(`rate_mbps = -1234${"0".repeat(305)}`), "rate_mbps = -1.23e+308");
    assert.equal(withShortNumbers("within 0.30000000000000004"), "within 0.30000000000000004");
    const version = "1.2.3.4.5.6.7.8.9.10.11.12";
    assert.equal(withShortNumbers(version), version);
});
