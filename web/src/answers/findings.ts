/**
 * Sentences that answer, by the rules of docs/reference/findings.md: the Pareto front, the best schemes, and
 * significance.
 */

import type { Runs } from "../data/runs";
import { estimateOf, valuesOf } from "../data/runs";
import type { Field } from "../data/source";
import { areSignificant, difference, type Estimate } from "../data/statistics";
import { capitalize, inSentence, listing, numberOf } from "../data/words";
import { type Facet, isMix, type SchemeRuns, soundOrAll } from "./facets";

/** Minimum throughput of a scheme whose delay is compared, as a fraction of the highest on the path. */
const ENOUGH = 0.5;
/** Maximum number of leading schemes in a metric that are compared with each other. */
const CANDIDATES = 4;

interface SchemeEstimate {
    scheme: string;
    estimate: Estimate;
    rows: readonly number[];
}

/**
 * Returns indices of points on the Pareto front, in order of growing badness of `x`. For a point on the front, no other
 * point is better in one coordinate and as good in the other.
 */
export function paretoFront(points: readonly (readonly [number, number])[]): number[] {
    const order = points
        .map((_, index) => index)
        .sort((a, b) => points[a]![0] - points[b]![0] || points[b]![1] - points[a]![1] || a - b);
    const front: number[] = [];
    for (const index of order) {
        const last = front.length ? points[front.at(-1)!]! : null;
        const [x, y] = points[index]!;
        if (!last || y > last[1] || (x === last[0] && y === last[1])) front.push(index);
    }
    return front;
}

/** Returns the Pareto front of a facet for two metrics that have a better direction. */
export function frontOf(runs: Runs, facet: Facet, x: Field, y: Field): Set<string> {
    return new Set(front(runs, facet, x, y).map(({ scheme }) => scheme));
}

function front(runs: Runs, facet: Facet, x: Field, y: Field): { scheme: string; x: Estimate; y: Estimate }[] {
    if (!judges(x) || !judges(y)) return [];
    const points = candidates(facet).flatMap(({ scheme, rows }) => {
        const [a, b] = [estimateOf(runs, rows, x.name), estimateOf(runs, rows, y.name)];
        return a && b && Number.isFinite(a.mean) && Number.isFinite(b.mean) ? [{ scheme, x: a, y: b }] : [];
    });
    const bad = x.better === "less" ? 1 : -1;
    const good = y.better === "more" ? 1 : -1;
    return paretoFront(points.map((each) => [bad * each.x.mean, good * each.y.mean])).map((index) => points[index]!);
}

function judges(field: Field): boolean {
    return field.better === "more" || field.better === "less";
}

/** Returns the schemes that run by themselves. Schemes of a mix are no rivals. */
function single(facet: Facet): SchemeRuns[] {
    return facet.beside ? [] : facet.schemes.filter(({ scheme, rows }) => !isMix(scheme) && rows.length > 0);
}

/** Returns the schemes by themselves that a comparison on a path includes. */
function candidates(facet: Facet): readonly SchemeRuns[] {
    return soundOrAll(single(facet), ({ scheme }) => facet.leftOut.includes(scheme));
}

/** Returns the candidates that have both numbers. */
function havingBoth(runs: Runs, facet: Facet, x: Field, y: Field): readonly SchemeRuns[] {
    return candidates(facet).filter(({ rows }) => estimateOf(runs, rows, x.name) && estimateOf(runs, rows, y.name));
}

/** Says why a facet has no comparison in two metrics. */
export function loneSentence(runs: Runs, facet: Facet, x: Field, y: Field): string {
    const count = havingBoth(runs, facet, x, y).length;
    if (count > 1) return "Which of these schemes is better, these numbers do not say.";
    if (count === 0) return "No run that went well has both numbers.";
    const left = without(facet);
    return capitalize(`${left ? `${left}one scheme is left` : "a single scheme"}: there is none to compare it with.`);
}

/** Returns `without blast, ` if the comparison leaves schemes out for their conduct. */
function without(facet: Facet): string {
    const among = new Set(candidates(facet));
    const left = single(facet).filter((each) => !among.has(each));
    return left.length ? `without ${listing(left.map(({ scheme }) => scheme))}, ` : "";
}

/** Says which schemes no other scheme beats in both means. Returns "" for fewer than two schemes. */
export function frontSentence(runs: Runs, facet: Facet, x: Field, y: Field): string {
    if (havingBoth(runs, facet, x, y).length < 2) return "";
    const frontPoints = front(runs, facet, x, y);
    if (!frontPoints.length) return "";
    const descriptions = frontPoints.map((each) => `${each.scheme} (${bare(each.y, y)}, ${bare(each.x, x)})`);
    const [more, less] = [inSentence(y.title), inSentence(x.title)];
    const word = { y: y.better === "more" ? "most" : "least", x: x.better === "less" ? "least" : "most" };
    const conventionText = byConvention(x, y);
    const text =
        descriptions.length === 1
            ? `on ${facet.path} ${word.y} ${more} and ${word.x} ${less}${conventionText}: ${descriptions[0]}`
            : `on ${facet.path} no scheme beats these in both ${more} and ${less}${conventionText}: ${listing(descriptions)}`;
    return `${alone(facet, without(facet) + text)}.`;
}

function byConvention(...fields: Field[]): string {
    return fields.some(({ convention }) => convention === "pantheon") ? " (Pantheon's convention)" : "";
}

function alone(facet: Facet, text: string): string {
    return facet.schemes.some(({ scheme }) => isMix(scheme)) ? `Alone, ${text}` : capitalize(text);
}

/** Returns a sentence for each metric: the best scheme, and its lead if the runs show one. */
export function bestSentence(runs: Runs, facet: Facet, metrics: readonly Field[]): string {
    const rankings = metrics
        .filter(judges)
        .map((metric) => ({ metric, known: best(runs, facet, metric), ...rivals(runs, facet, metric) }))
        .filter(({ known }) => known.length > 1);
    const pairs = rankings.flatMap(({ metric, known }) =>
        known.flatMap((one, index) => known.slice(index + 1).map((other) => ({ metric, one, other }))),
    );
    const verdicts = judgeDifferences(runs, pairs);
    const sentences = rankings.map(({ metric, known, among }) => {
        const [first, ...others] = known;
        const comparisons = others.map((other) => ({
            other: other.scheme,
            verdict:
                verdicts[
                    pairs.findIndex((pair) => pair.metric === metric && pair.one === first && pair.other === other)
                ]!,
        }));
        const text = clause(first!, comparisons, metric, among);
        return `${alone(facet, without(facet) + text)}${byConvention(...metrics)}.`;
    });
    return sentences.join(" ");
}

/**
 * Returns the schemes that are compared in a metric. For the delay of a convention, only schemes with enough
 * throughput.
 */
function rivals(runs: Runs, facet: Facet, metric: Field): { schemes: readonly SchemeRuns[]; among: string } {
    const schemesInQuestion = candidates(facet);
    const convention = Object.values(runs.facts.conventions).find(({ metrics }) => metrics[1] === metric.name);
    const throughput = convention && runs.fields.get(convention.metrics[0]);
    if (!throughput || !runs.has(throughput.name)) return { schemes: schemesInQuestion, among: "" };
    const means = schemesInQuestion.map(({ rows }) => estimateOf(runs, rows, throughput.name)?.mean ?? null);
    const least = ENOUGH * Math.max(0, ...means.filter((mean) => mean !== null));
    const schemes = schemesInQuestion.filter((_, place) => means[place] === null || means[place]! >= least);
    return {
        schemes,
        among:
            schemes.length === schemesInQuestion.length
                ? ""
                : ` among schemes with at least half of the most ${inSentence(throughput.title)}`,
    };
}

function best(runs: Runs, facet: Facet, metric: Field): SchemeEstimate[] {
    const sign = metric.better === "more" ? -1 : 1;
    return rivals(runs, facet, metric)
        .schemes.flatMap(({ scheme, rows }) => {
            const mean = estimateOf(runs, rows, metric.name);
            return mean && Number.isFinite(mean.mean) ? [{ scheme, estimate: mean, rows }] : [];
        })
        .sort((a, b) => sign * (a.estimate.mean - b.estimate.mean))
        .slice(0, CANDIDATES);
}

interface Verdict {
    noise: "resolved" | "open" | "apart" | "overlap" | "single" | "equal";
    runs: number;
    difference: number;
    low: number | null;
    high: number | null;
}

/**
 * Judges all differences of one sentence together: each test accounts for their number. Runs with equal seeds are
 * pairs.
 */
function judgeDifferences(
    runs: Runs,
    pairs: readonly { metric: Field; one: SchemeEstimate; other: SchemeEstimate }[],
): Verdict[] {
    const sides = pairs.map(({ metric, one, other }) => {
        // Findings report the second value minus the first.
        const [a, b] = [valuesBySeed(runs, other.rows, metric.name), valuesBySeed(runs, one.rows, metric.name)];
        const isPaired =
            a.seeds !== null &&
            b.seeds !== null &&
            a.seeds.size === b.seeds.size &&
            [...a.seeds.keys()].every((seed) => b.seeds!.has(seed));
        const first = isPaired ? [...a.seeds!.values()] : a.values;
        const second = isPaired ? [...a.seeds!.keys()].map((seed) => b.seeds!.get(seed)!) : b.values;
        return {
            first,
            second,
            paired: isPaired,
            mean: one.estimate.mean - other.estimate.mean,
            difference: difference(first, second, isPaired, runs.facts.critical_values),
        };
    });
    const differences = sides.flatMap(({ difference }) => (difference ? [difference] : []));
    const significant = areSignificant(differences, runs.facts.critical_values);
    return sides.map(({ first, second, paired, mean, difference }) => {
        const count = Math.min(first.length, second.length);
        const verdict = { runs: count, difference: mean, low: null, high: null };
        const equal =
            (paired && first.every((value, place) => value === second[place])) ||
            new Set([...first, ...second]).size === 1;
        if (equal) return { ...verdict, noise: "equal", difference: 0 };
        if (difference) {
            const noise = significant[differences.indexOf(difference)] ? "resolved" : "open";
            return { ...verdict, noise, low: difference.low, high: difference.high };
        }
        if (count < 2) return { ...verdict, noise: "single" };
        const overlap = Math.min(...first) <= Math.max(...second) && Math.min(...second) <= Math.max(...first);
        return { ...verdict, noise: overlap ? "overlap" : "apart" };
    });
}

function valuesBySeed(
    runs: Runs,
    rows: readonly number[],
    metric: string,
): { values: number[]; seeds: Map<number, number> | null } {
    const values = valuesOf(runs, rows, metric);
    if (!runs.has("seed")) return { values, seeds: null };
    const [seeds, numbers] = [runs.numbers("seed"), runs.numbers(metric)];
    const valueOfSeed = new Map<number, number>();
    for (const row of rows) if (!Number.isNaN(numbers[row]!)) valueOfSeed.set(seeds[row]!, numbers[row]!);
    return { values, seeds: valueOfSeed.size === values.length && !valueOfSeed.has(Number.NaN) ? valueOfSeed : null };
}

function bare(estimate: Estimate, metric: Field): string {
    return `${numberOf(metric)(estimate.mean)}${metric.unit ? ` ${metric.unit}` : ""}`;
}

function clause(
    first: SchemeEstimate,
    others: readonly { other: string; verdict: Verdict }[],
    metric: Field,
    among: string,
): string {
    const more = metric.better === "more";
    const equal = others.filter(({ verdict }) => verdict.noise === "equal").map(({ other }) => other);
    const title = inSentence(metric.title);
    if (equal.length === others.length)
        return `in ${title}${among} ${listing([first.scheme, ...equal])} are equal in every run`;
    const head = `${more ? "most" : "least"} ${title}${among}: ${bare(first.estimate, metric)}, ${listing([first.scheme, ...equal])}`;
    const rest = others.filter(({ verdict }) => verdict.noise !== "equal");
    const unclear = rest.filter(({ verdict }) => verdict.noise !== "resolved" && verdict.noise !== "apart");
    return `${head}; ${unclear.length ? doubtful(unclear, metric) : lead(rest[0]!, metric, more ? "more" : "less")}`;
}

function lead({ other, verdict }: { other: string; verdict: Verdict }, metric: Field, word: string): string {
    const number = numberOf(metric);
    const ahead = `${number(Math.abs(verdict.difference))}${metric.unit ? ` ${metric.unit}` : ""}`;
    if (verdict.noise === "resolved" && verdict.low !== null && verdict.high !== null) {
        const [low, high] = [Math.abs(verdict.low), Math.abs(verdict.high)].sort((a, b) => a - b);
        return `${ahead} [${number(low!)}, ${number(high!)}] ${word} than ${other}, the next`;
    }
    return `${ahead} ${word} than ${other}, the next; the ranges of ${verdict.runs} runs do not overlap`;
}

function doubtful(unclear: readonly { other: string; verdict: Verdict }[], metric: Field): string {
    const names = listing(unclear.map(({ other }) => other));
    const kinds = new Set(unclear.map(({ verdict }) => verdict.noise));
    const runs = Math.min(...unclear.map(({ verdict }) => verdict.runs));
    if (kinds.has("single")) return `one run does not separate it from ${names}`;
    if (kinds.has("overlap")) return `the ranges of ${runs} runs overlap with those of ${names}`;
    const { verdict } = unclear[0]!;
    const number = numberOf(metric);
    const ends =
        unclear.length === 1 && verdict.low !== null && verdict.high !== null
            ? ` (difference ${number(verdict.difference)}${metric.unit ? ` ${metric.unit}` : ""} [${number(verdict.low)}, ${number(verdict.high)}])`
            : "";
    return `${runs} runs do not separate it from ${names}${ends}`;
}
