import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldScale, linearTicks, plainScale, spansWidely, tickText } from "../../src/ui/scale";
import { close } from "../close";
import { DELAY, GOODPUT, numberField } from "../table";

test("delays a factor of four apart need a logarithmic axis, by powers of two", () => {
    // 10 and 40: 8 and 64 are more than a factor of four apart; 16 and 64 are not
    assert.ok(spansWidely(10, 40));
    assert.ok(!spansWidely(16, 64));
    assert.ok(spansWidely(16, 65));
});

test("small delays count as zero, negative ones by their size", () => {
    assert.ok(!spansWidely(0, 4));
    assert.ok(spansWidely(1, 5));
    assert.ok(spansWidely(-1, 1));
    assert.ok(!spansWidely(-10, 1) === false);
});

test("ticks of a linear axis are round, even, and within it", () => {
    assert.deepEqual(linearTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
    assert.deepEqual(linearTicks(0, 1, 4), [0, 0.25, 0.5, 0.75, 1]);
    assert.deepEqual(linearTicks(-1, 1, 4), [-1, -0.5, 0, 0.5, 1]);
    assert.deepEqual(linearTicks(3.1, 3.9, 4), [3.2, 3.4, 3.6, 3.8]);
});

test("ticks are at least two steps and at most eight, whatever was asked for", () => {
    for (const about of [-3, 0, 1, 2, 5, 8, 1000])
        for (const [low, high] of [
            [0, 1],
            [0, 997],
            [-0.37, 0.81],
            [1e-9, 3e-9],
        ] as const) {
            const ticks = linearTicks(low, high, about);
            assert.ok(ticks.length >= 1 && ticks.length <= 9, `${ticks}`);
            assert.ok(ticks.every((tick) => tick >= low - 1e-9 * (high - low) && tick <= high + 1e-9 * (high - low)));
        }
});

test("an axis of one value has that as its tick", () => {
    assert.deepEqual(linearTicks(5, 5, 4), [5]);
    assert.deepEqual(linearTicks(5, 4, 4), [5]);
});

test("a plain axis goes from place to place and back", () => {
    const scale = plainScale(0, 1, 300, 0, "runs");
    assert.equal(scale.at(0), 300);
    assert.equal(scale.at(1), 0);
    close(scale.value(scale.at(0.3)), 0.3);
    assert.equal(scale.label, "runs");
});

test("ticks have the digits that tell them apart", () => {
    const { ticks, text } = plainScale(0, 1, 0, 240, "");
    assert.deepEqual(ticks.map(text), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
    const integerScale = plainScale(0, 10, 0, 300, "");
    assert.deepEqual(integerScale.ticks.map(integerScale.text), ["0", "2", "4", "6", "8", "10"]);
});

test("throughput begins at zero where its values are far apart", () => {
    const far = fieldScale(GOODPUT, [1, 10], 0, 500);
    close(far.value(0), 0, 1e-9);
    assert.equal(far.label, "Goodput (Mbit/s)");
    const close_ = fieldScale(GOODPUT, [9, 10], 0, 500);
    assert.ok(close_.value(0) > 8.5);
    assert.equal(close_.label, "Goodput (Mbit/s), not from 0");
});

test("less is better: the axis of delays runs the other way", () => {
    const scale = fieldScale(DELAY, [50, 60], 0, 500);
    assert.ok(scale.at(50) > scale.at(60));
    assert.match(scale.label, /decreasing/);
});

test("delays that span widely are logarithmic: equal factors are equal lengths", () => {
    const scale = fieldScale(DELAY, [10, 1000], 0, 500);
    assert.match(scale.label, /logarithmic/);
    close(scale.at(10) - scale.at(100), scale.at(100) - scale.at(1000));
});

test("a logarithmic axis of delays reaches zero and below, linear around it", () => {
    const scale = fieldScale(DELAY, [0, 1, 64], 0, 500);
    close(scale.at(0) - scale.at(1), scale.at(1) - scale.at(2));
    close(scale.at(2) - scale.at(4), scale.at(4) - scale.at(8));
    assert.ok(scale.ticks.includes(0) && scale.ticks.includes(64));
});

test("every axis comes back from the place of a value", () => {
    const fields = [GOODPUT, DELAY, numberField("loss", { better: "less" })];
    for (const field of fields)
        for (const values of [
            [1, 2],
            [0.001, 50],
            [5, 4000],
            [-3, 200],
            [7, 7],
        ]) {
            const scale = fieldScale(field, values, 480, 20);
            for (const value of values) close(scale.value(scale.at(value)), value, 1e-9);
        }
});

test("all values and ticks lie on the axis", () => {
    for (const field of [GOODPUT, DELAY, numberField("loss", { better: "less" })])
        for (const values of [[1, 2], [0.001, 50], [5, 4000], [-3, 200], [7, 7], [0, 0], []]) {
            const scale = fieldScale(field, values, 0, 600);
            assert.ok(scale.ticks.length <= 13, `${scale.ticks}`);
            for (const value of [...values, ...scale.ticks])
                assert.ok(
                    scale.at(value) >= -1e-6 && scale.at(value) <= 600 + 1e-6,
                    `${field.name} ${values}: ${value}`,
                );
        }
});

test("numbers far apart that are no delays are logarithmic only where all are positive", () => {
    const loss = numberField("loss");
    assert.match(fieldScale(loss, [0.001, 0.5], 0, 300).label, /logarithmic/);
    assert.doesNotMatch(fieldScale(loss, [0, 0.5], 0, 300).label, /logarithmic/);
    assert.doesNotMatch(fieldScale(GOODPUT, [0.01, 500], 0, 300).label, /logarithmic/);
});

test("a tick has five digits and no more than it needs", () => {
    assert.equal(tickText(0.1 + 0.2), "0.3");
    assert.equal(tickText(123456), "123460");
    assert.equal(tickText(-0), "0");
});
