import assert from "node:assert/strict";
import { test } from "node:test";
import { facetsOf } from "../../src/answers/facets";
import { bestSentence, frontOf, frontSentence, loneSentence, paretoFront } from "../../src/answers/findings";
import { allRows, DELAY, GOODPUT, numberField, tableOf } from "../table";

/** Returns a facet of schemes with their goodputs and delays; run `n` of each scheme has seed `n`. */
function facetOf(given: Record<string, { goodput: number[]; delay?: number[] }>, leftOut: string[] = []) {
    const rows = Object.entries(given).flatMap(([scheme, { goodput, delay }]) =>
        goodput.map((value, run) => ({ scheme, run: run + 1, goodput: value, delay: delay?.[run] ?? 50 })),
    );
    const runs = tableOf({
        directory: rows.map(() => "d1"),
        status: rows.map(() => "done"),
        path: rows.map(() => "a"),
        scheme: rows.map(({ scheme }) => scheme),
        run: rows.map(({ run }) => run),
        seed: rows.map(({ run }) => run),
        goodput_mbps: rows.map(({ goodput }) => goodput),
        owd_p95_ms: rows.map(({ delay }) => delay),
    });
    return { runs, facet: facetsOf(runs, allRows(runs), { d1: { sentences: [], left_out: { a: leftOut } } })[0]! };
}

test("the front is what no other point beats in both", () => {
    assert.deepEqual(
        paretoFront([
            [1, 1],
            [2, 2],
            [3, 2],
            [2, 3],
        ]),
        [0, 3],
    );
    assert.deepEqual(
        paretoFront([
            [1, 5],
            [2, 4],
            [0, 6],
        ]),
        [2],
    );
});

test("equal points are all in front", () => {
    assert.deepEqual(
        paretoFront([
            [1, 1],
            [1, 1],
        ]),
        [0, 1],
    );
});

test("a front of nothing is empty, of one point that", () => {
    assert.deepEqual(paretoFront([]), []);
    assert.deepEqual(paretoFront([[5, 5]]), [0]);
});

test("a point that is better in one and equal in the other is in front", () => {
    assert.deepEqual(
        paretoFront([
            [1, 1],
            [1, 2],
        ]),
        [1],
    );
    assert.deepEqual(
        paretoFront([
            [2, 1],
            [1, 1],
        ]),
        [1],
    );
});

test("who is in front is said with both means", () => {
    const { runs, facet } = facetOf({
        cubic: { goodput: [10, 10], delay: [90, 90] },
        copa: { goodput: [8, 8], delay: [30, 30] },
        slow: { goodput: [5, 5], delay: [80, 80] },
    });
    assert.deepEqual([...frontOf(runs, facet, DELAY, GOODPUT)], ["copa", "cubic"]);
    assert.equal(
        frontSentence(runs, facet, DELAY, GOODPUT),
        "On a no scheme beats these in both goodput and p95 one-way delay: " +
            "copa (8.00 Mbit/s, 30.0 ms) and cubic (10.00 Mbit/s, 90.0 ms).",
    );
});

test("a single scheme in front of all is said to be", () => {
    const { runs, facet } = facetOf({
        cubic: { goodput: [10], delay: [90] },
        copa: { goodput: [12], delay: [30] },
    });
    assert.match(
        frontSentence(runs, facet, DELAY, GOODPUT),
        /^On a most goodput and least p95 one-way delay: copa \(12\.00 Mbit\/s, 30\.0 ms\)\.$/,
    );
});

test("one scheme alone, or metrics that nobody judges, have no front", () => {
    const alone = facetOf({ cubic: { goodput: [10] } });
    assert.equal(frontSentence(alone.runs, alone.facet, DELAY, GOODPUT), "");
    const two = facetOf({ cubic: { goodput: [10] }, bbr: { goodput: [9] } });
    const neutral = numberField("goodput_mbps", { better: "neutral" });
    assert.equal(frontSentence(two.runs, two.facet, DELAY, neutral), "");
});

test("a difference that the runs tell has its interval", () => {
    const { runs, facet } = facetOf({
        cubic: { goodput: [10.1, 10.2, 10.0, 10.3, 9.9] },
        bbr: { goodput: [20.1, 20.0, 20.2, 19.9, 20.3] },
    });
    // pairs by seed: 10, 9.8, 10.2, 9.6, 10.4: mean 10, deviation sqrt(0.1), half 2.77645 sqrt(0.02) = 0.3926
    assert.equal(
        bestSentence(runs, facet, [GOODPUT]),
        "Most goodput: 20.10 Mbit/s, bbr; 10.00 Mbit/s [9.61, 10.39] more than cubic, the next.",
    );
});

test("a difference within the scatter is not told", () => {
    const { runs, facet } = facetOf({
        cubic: { goodput: [10, 14, 9, 13, 11] },
        bbr: { goodput: [12, 10, 13, 9, 14] },
    });
    assert.match(bestSentence(runs, facet, [GOODPUT]), /; 5 runs do not separate it from cubic \(difference 0\.20 /);
});

test("of fewer than five runs ranges are compared", () => {
    const apart = facetOf({ cubic: { goodput: [10, 11] }, bbr: { goodput: [12, 13] } });
    assert.match(bestSentence(apart.runs, apart.facet, [GOODPUT]), /; the ranges of 2 runs do not overlap\.$/);
    const overlap = facetOf({ cubic: { goodput: [10, 12.5] }, bbr: { goodput: [12, 13] } });
    assert.match(
        bestSentence(overlap.runs, overlap.facet, [GOODPUT]),
        /; the ranges of 2 runs overlap with those of cubic/,
    );
});

test("ranges overlap where either reaches into the other", () => {
    const goodput = [10, 10];
    const above = facetOf({ cubic: { goodput, delay: [40, 60] }, bbr: { goodput, delay: [30, 41] } });
    assert.match(bestSentence(above.runs, above.facet, [DELAY]), /; the ranges of 2 runs overlap with those of cubic/);
    const within = facetOf({ cubic: { goodput, delay: [35, 37] }, bbr: { goodput, delay: [10, 41] } });
    assert.match(
        bestSentence(within.runs, within.facet, [DELAY]),
        /; the ranges of 2 runs overlap with those of cubic/,
    );
});

test("a single run tells nothing, equal runs are equal", () => {
    const single = facetOf({ cubic: { goodput: [10] }, bbr: { goodput: [12] } });
    assert.match(bestSentence(single.runs, single.facet, [GOODPUT]), /; one run does not separate it from cubic/);
    const equal = facetOf({ cubic: { goodput: [10, 10] }, bbr: { goodput: [10, 10] } });
    assert.match(bestSentence(equal.runs, equal.facet, [GOODPUT]), /In goodput bbr and cubic are equal in every run/);
});

test("a scheme that carries too little is no rival in delay", () => {
    const { runs, facet } = facetOf({
        cubic: { goodput: [10, 10], delay: [90, 91] },
        bbr: { goodput: [9, 9], delay: [60, 61] },
        idle: { goodput: [1, 1], delay: [20, 21] },
    });
    assert.match(
        bestSentence(runs, facet, [DELAY]),
        /^Least p95 one-way delay among schemes with at least half of the most goodput: 60\.5 ms, bbr;/,
    );
});

test("schemes that break a rule for conduct are not compared while others are there", () => {
    const valuesByScheme = {
        blast: { goodput: [20, 20], delay: [20, 20] },
        cubic: { goodput: [10, 10], delay: [90, 90] },
        copa: { goodput: [8, 8], delay: [30, 30] },
    };
    const { runs, facet } = facetOf(valuesByScheme, ["blast"]);
    assert.deepEqual([...frontOf(runs, facet, DELAY, GOODPUT)], ["copa", "cubic"]);
    assert.match(frontSentence(runs, facet, DELAY, GOODPUT), /^Without blast, on a no scheme beats these in both /);
    assert.match(bestSentence(runs, facet, [GOODPUT]), /^Without blast, most goodput: 10\.00 Mbit\/s, cubic; /);
    const two = facetOf({ blast: valuesByScheme.blast, cubic: valuesByScheme.cubic }, ["blast"]);
    assert.equal(bestSentence(two.runs, two.facet, [GOODPUT]), "");
    const lone = loneSentence(two.runs, two.facet, DELAY, GOODPUT);
    assert.equal(lone, "Without blast, one scheme is left: there is none to compare it with.");
    const sentence = loneSentence(runs, facet, DELAY, numberField("goodput_mbps", { better: "neutral" }));
    assert.equal(sentence, "Which of these schemes is better, these numbers do not say.");
    const fullFacet = facetOf(valuesByScheme, Object.keys(valuesByScheme));
    assert.match(bestSentence(fullFacet.runs, fullFacet.facet, [GOODPUT]), /^Most goodput: 20\.00 Mbit\/s, blast; /);
});

test("four schemes in two metrics are as many tests as the core has critical values for", () => {
    const valuesAround = (mean: number) => [0, 1, -1, 2, -2].map((each) => mean + each);
    const valuesByScheme = Object.fromEntries(
        ["a", "b", "c", "d", "e"].map((name, place) => [
            name,
            { goodput: valuesAround(20 + place), delay: valuesAround(50 - place) },
        ]),
    );
    const { runs, facet } = facetOf(valuesByScheme);
    assert.match(
        bestSentence(runs, facet, [GOODPUT, DELAY]),
        /^Most goodput: 24\.00 Mbit\/s, e; .* Least p95 one-way delay: 46\.0 ms, e; /,
    );
});

test("schemes whose flows compete with others are not ranked", () => {
    const { runs, facet } = facetOf({ cubic: { goodput: [10] }, bbr: { goodput: [12] } });
    assert.equal(bestSentence(runs, { ...facet, beside: true }, [GOODPUT]), "");
});
