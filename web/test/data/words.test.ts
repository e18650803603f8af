import assert from "node:assert/strict";
import { test } from "node:test";
import type { Estimate } from "../../src/data/statistics";
import {
    ageText,
    boundsLegend,
    boundsText,
    capitalize,
    countText,
    decimal,
    inSentence,
    listing,
    numberOf,
    titleOf,
} from "../../src/data/words";
import { numberField } from "../table";

const wholeText = (value: number) => String(value);

function estimate(bounds: Estimate["bounds"]): Estimate {
    return { count: 5, mean: 2, low: bounds ? 1 : null, high: bounds ? 3 : null, bounds };
}

test("decimals grow until a small number is told from zero", () => {
    assert.equal(decimal(0.0042, 2), "0.004");
    assert.equal(decimal(-0.0042, 2), "-0.004");
    assert.equal(decimal(1.005, 1), "1.0");
});

test("zero, and what is as good as it, has the decimals asked for", () => {
    assert.equal(decimal(0, 2), "0.00");
    assert.equal(decimal(1e-13, 1), "0.0");
});

test("a number of a field has its factor and its digits", () => {
    assert.equal(numberOf(numberField("loss", { factor: 100, digits: 1 }))(0.1234), "12.3");
    assert.equal(numberOf(numberField("x"))(2), "2.000");
    assert.equal(numberOf(numberField("run", { group: "run" }))(2), "2");
    assert.equal(numberOf(numberField("x"))(Number.NaN), "-");
});

test("a title has its unit behind it", () => {
    assert.equal(titleOf(numberField("g", { title: "goodput", unit: "Mbit/s" })), "Goodput (Mbit/s)");
    assert.equal(titleOf(numberField("g", { title: "jain", unit: "" })), "Jain");
});

test("a title within a sentence begins small, names and abbreviations do not", () => {
    assert.equal(inSentence("Goodput"), "goodput");
    assert.equal(inSentence("P95 one-way delay"), "p95 one-way delay");
    assert.equal(inSentence("Jain's index"), "Jain's index");
    assert.equal(inSentence("RTT"), "RTT");
    assert.equal(inSentence(""), "");
});

test("the first letter alone is made large", () => {
    assert.equal(capitalize("p95 of RTT"), "P95 of RTT");
    assert.equal(capitalize(""), "");
});

test("bounds are brackets, parentheses, a word, or nothing", () => {
    assert.equal(boundsText(estimate("confidence"), wholeText), "[1, 3]");
    assert.equal(boundsText(estimate("range"), wholeText), "(1 to 3)");
    assert.equal(boundsText(estimate("equal"), wholeText), "(equal)");
    assert.equal(boundsText(estimate(null), wholeText), "");
});

test("a legend explains the bounds that are there, and no others", () => {
    assert.equal(boundsLegend([]), "");
    assert.equal(boundsLegend([estimate(null), null]), "");
    assert.equal(boundsLegend([estimate("equal")]), "Equal: all runs have this value.");
    const legend = boundsLegend([estimate("range"), estimate("confidence"), estimate("range")]);
    assert.match(legend, /^In brackets: .* In parentheses: /);
    assert.equal(legend.split("In parentheses").length, 2);
});

test("names are listed with commas and an and", () => {
    assert.equal(listing([]), "");
    assert.equal(listing(["a"]), "a");
    assert.equal(listing(["a", "b"]), "a and b");
    assert.equal(listing(["a", "b", "c"]), "a, b and c");
});

test("of many names the first are listed, the others are counted", () => {
    assert.equal(listing(["a", "b", "c", "d"]), "a, b, c and d");
    assert.equal(listing(["a", "b", "c", "d", "e"]), "a, b, c and 2 others");
    assert.equal(listing(["a", "b", "c"], 2), "a and 2 others");
});

test("a count has its noun in the right number, and thin spaces between thousands", () => {
    assert.equal(countText(1, "run"), "1 run");
    assert.equal(countText(0, "run"), "0 runs");
    assert.equal(countText(1234567, "run"), "1\u202f234\u202f567 runs");
});

test("an age has its largest unit", () => {
    const now = 1_000_000_000;
    assert.equal(ageText(now, now), "now");
    assert.equal(ageText(now - 59, now), "now");
    assert.equal(ageText(now - 60, now), "1 minute ago");
    assert.equal(ageText(now - 3 * 86400, now), "3 days ago");
    assert.equal(ageText(now - 800 * 86400, now), "2 years ago");
});

test("a time to come is ahead, and none is a dash", () => {
    assert.equal(ageText(7200, 0), "in 2 hours");
    assert.equal(ageText(Number.NaN, 0), "-");
});
