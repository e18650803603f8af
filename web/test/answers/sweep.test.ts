import assert from "node:assert/strict";
import { test } from "node:test";
import { bestSentence } from "../../src/answers/sweep";
import { GOODPUT, numberField } from "../table";

const QUEUE = numberField("queue", { title: "queue" });

function cell(scheme: string, x: string, mean: number, isLeftOut = false) {
    const estimate = { mean, low: null, high: null, kind: "range", runs: 1 } as never;
    return { scheme, x, y: "", estimate, isLeftOut };
}

test("the best at each value is named", () => {
    const cells = [cell("cubic", "1", 9), cell("bbr", "1", 8), cell("cubic", "2", 7), cell("bbr", "2", 8)];
    assert.equal(
        bestSentence(cells, QUEUE, GOODPUT),
        "Most goodput by the means: cubic at queue 1 and bbr at queue 2.",
    );
});

test("where a scheme is left out for its conduct, the sentence says so", () => {
    const cells = [
        cell("blast", "1", 12, true),
        cell("cubic", "1", 9),
        cell("bbr", "1", 8),
        cell("blast", "2", 7, true),
        cell("blast", "3", 7, true),
        cell("cubic", "3", 5),
        cell("cubic", "2", 5, true),
    ];
    assert.equal(
        bestSentence(cells, QUEUE, GOODPUT),
        "Most goodput by the means, without blast at queue 1: cubic at queue 1 and blast at queue 2.",
    );
});
