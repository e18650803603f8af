/** Means over runs and where they lie, by the rules of `dumbbell show`: docs/intervals.md and docs/findings.md have them. */

export const LEVEL = 0.95;

/** The fewest runs of which an interval is stated. */
export const FEWEST_FOR_INTERVAL = 5;

/** Metrics that are fractions of a whole: their intervals do not reach beyond it. */
const FRACTIONS = new Set([
    "payload_share",
    "competing_share",
    "utilization",
    "capacity_utilization",
    "jain_index",
    "jain_index_mean",
    ...["seen", "active"].flatMap((of) => ["05", "50"].map((part) => `jain_${of}_p${part}`)),
]);

export function isFraction(metric: string): boolean {
    return metric.startsWith("share:") || FRACTIONS.has(metric.slice(metric.lastIndexOf("/") + 1));
}

/** The mean of a metric over runs: `low` to `high` are what `bounds` says, as in `dumbbell show --csv`. */
export interface Estimate {
    count: number;
    mean: number;
    low: number | null;
    high: number | null;
    bounds: "confidence" | "range" | "equal" | null;
}

/** Returns the estimate from the values of runs; null of none. */
export function estimate(values: readonly number[], fraction = false): Estimate | null {
    const count = values.length;
    if (!count) return null;
    const mean = meanOf(values);
    if (count < 2) return { count, mean, low: null, high: null, bounds: null };
    let low = values[0]!;
    let high = low;
    for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (low === high) return { count, mean: low, low, high, bounds: "equal" };
    const interval = confidenceInterval(values, fraction);
    if (!interval) return { count, mean, low, high, bounds: "range" };
    return { count, mean, low: interval[0], high: interval[1], bounds: "confidence" };
}

export function meanOf(values: readonly number[]): number {
    let sum = 0;
    for (const value of values) sum += value;
    return sum / values.length;
}

/** The variance with divisor n - 1. */
function variance(values: readonly number[], mean: number): number {
    let sum = 0;
    for (const value of values) sum += (value - mean) * (value - mean);
    return sum / (values.length - 1);
}

/**
 * The confidence interval of the mean: Student's t on the values or on their logarithms (Cox's interval of a log-normal
 * mean, Olsson 2005), whichever reaches further at either end; of fractions on the values alone. Null where none holds.
 */
export function confidenceInterval(values: readonly number[], fraction = false): [number, number] | null {
    const count = values.length;
    if (count < FEWEST_FOR_INTERVAL || values.every((value) => value === values[0])) return null;
    const mean = meanOf(values);
    const deviation = Math.sqrt(variance(values, mean));
    if (!Number.isFinite(deviation)) return null;
    const quantile = studentQuantile((1 + LEVEL) / 2, count - 1);
    const half = (quantile * deviation) / Math.sqrt(count);
    let low = mean - half;
    let high = mean + half;
    if (!fraction && values.every((value) => value > 0)) {
        const logarithms = values.map(Math.log);
        const middle = meanOf(logarithms);
        const spread = variance(logarithms, middle);
        const reach = quantile * Math.sqrt(spread / count + (spread * spread) / (2 * (count - 1)));
        low = Math.min(low, Math.exp(middle + spread / 2 - reach));
        high = Math.max(high, Math.exp(middle + spread / 2 + reach));
    }
    if (values.every((value) => value >= 0)) low = Math.max(low, 0);
    if (fraction && values.every((value) => value <= 1)) high = Math.min(high, 1);
    return [low, high];
}

/** What two samples tell of the second mean less the first. */
export interface Difference {
    low: number;
    high: number;
    p: number;
}

/** By Student's t: of pairs within them, else with Welch's degrees of freedom. Null of fewer than five runs, or no scatter. */
export function difference(first: readonly number[], second: readonly number[], paired: boolean): Difference | null {
    if (Math.min(first.length, second.length) < FEWEST_FOR_INTERVAL) return null;
    if (paired) {
        const apart = first.map((value, index) => second[index]! - value);
        const mean = meanOf(apart);
        return tested(mean, Math.sqrt(variance(apart, mean) / apart.length), apart.length - 1);
    }
    const [one, other] = [meanOf(first), meanOf(second)];
    const [a, b] = [variance(first, one) / first.length, variance(second, other) / second.length];
    const freedom = (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1));
    return tested(other - one, Math.sqrt(a + b), freedom);
}

function tested(apart: number, error: number, freedom: number): Difference | null {
    if (!(error > 0 && Number.isFinite(error))) return null;
    const half = studentQuantile((1 + LEVEL) / 2, freedom) * error;
    const p = Math.min(1, 2 * (1 - studentCdf(Math.abs(apart / error), freedom)));
    return { low: apart - half, high: apart + half, p };
}

/** Probabilities of tests made at once, adjusted for their number (Holm 1979). */
export function holm(probabilities: readonly number[]): number[] {
    const order = probabilities.map((_, index) => index).sort((a, b) => probabilities[a]! - probabilities[b]!);
    const adjusted = new Array<number>(order.length).fill(0);
    let largest = 0;
    for (const [rank, index] of order.entries()) {
        largest = Math.max(largest, Math.min((order.length - rank) * probabilities[index]!, 1));
        adjusted[index] = largest;
    }
    return adjusted;
}

/** The probability that Student's t with so many degrees of freedom is at most `t`. */
export function studentCdf(t: number, freedom: number): number {
    const tail = 0.5 * regularBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
    return t > 0 ? 1 - tail : tail;
}

const QUANTILES = new Map<string, number>();

/** The value that Student's t does not exceed with probability `p`. */
export function studentQuantile(p: number, freedom: number): number {
    const key = `${p} ${freedom}`;
    const known = QUANTILES.get(key);
    if (known !== undefined) return known;
    let low = -1;
    let high = 1;
    while (studentCdf(low, freedom) > p) low *= 2;
    while (studentCdf(high, freedom) < p) high *= 2;
    for (let step = 0; step < 200 && high - low > 1e-14 * Math.max(1, Math.abs(high)); step++) {
        const middle = (low + high) / 2;
        if (studentCdf(middle, freedom) < p) low = middle;
        else high = middle;
    }
    const found = (low + high) / 2;
    QUANTILES.set(key, found);
    return found;
}

/** The regularised incomplete beta function, by its continued fraction (modified Lentz). */
function regularBeta(x: number, a: number, b: number): number {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - regularBeta(1 - x, b, a);
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
    const tiny = 1e-300;
    let c = 1;
    let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1), tiny);
    let fraction = d;
    for (let m = 1; m < 500; m++) {
        const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / nonZero(1 + even * d, tiny);
        c = nonZero(1 + even / c, tiny);
        fraction *= d * c;
        const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / nonZero(1 + odd * d, tiny);
        c = nonZero(1 + odd / c, tiny);
        fraction *= d * c;
        if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return front * fraction;
}

function nonZero(value: number, tiny: number): number {
    return Math.abs(value) < tiny ? tiny : value;
}

/** Lanczos' approximation (g = 7, nine terms). */
function logGamma(z: number): number {
    const terms = [
        0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
        12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
    ];
    if (z < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * z))) - logGamma(1 - z);
    let sum = terms[0]!;
    for (let index = 1; index < terms.length; index++) sum += terms[index]! / (z - 1 + index);
    const base = z + 6.5;
    return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(base) - base + Math.log(sum);
}
