import assert from "node:assert/strict";
import { test } from "node:test";
import { findScheme } from "../../src/playground/catalogue";
import { keyOf } from "../../src/playground/messages";
import { PRESETS, SCENARIOS } from "../../src/playground/presets";
import { valid } from "../../src/playground/scenario";
import { CATALOGUE } from "./catalogue";

test("every preset is a scenario that can be run as it is", () => {
    for (const { name, scenario } of PRESETS) assert.deepEqual(valid(scenario, CATALOGUE), scenario, name);
});

test("presets have names of their own, a story of two paragraphs, and where they are from", () => {
    assert.equal(Object.keys(SCENARIOS).length, PRESETS.length);
    for (const { name, story, sources } of PRESETS) {
        assert.match(name, /^[a-z-]+$/);
        assert.equal(story.length, 2);
        assert.ok(sources.length > 0 && sources.every(({ address }) => address.startsWith("https://")), name);
    }
});

test("a scheme is found by its whole name", () => {
    assert.equal(findScheme(CATALOGUE, "copa-delay")?.name, "copa-delay");
    assert.equal(findScheme(CATALOGUE, "copa-d"), undefined);
    assert.equal(findScheme(CATALOGUE, ""), undefined);
});

test("the same question has the same key, another one another", () => {
    const question = { from_ns: 0, to_ns: 10, columns: 5, series: ["flow 1/rtt"] };
    assert.equal(keyOf(question), keyOf({ ...question, series: [...question.series] }));
    const otherNames = [
        { ...question, from_ns: 1 },
        { ...question, columns: 6 },
        { ...question, series: [] },
        { ...question, series: ["flow 1/rtt", "flow 2/rtt"] },
    ];
    assert.equal(new Set([question, ...otherNames].map(keyOf)).size, 5);
});
