/** Means over runs and where they lie, by the rules of `dumbbell show`: docs/evidence/intervals.md and docs/reference/findings.md have them. */

/** Critical values of Student's t, which the core computes: nodes of an interpolation over the inverse degrees of freedom. */
export interface CriticalValues {
    /** Confidence level of one interval or test. */
    level: number;
    /** Minimum number of runs for an interval. */
    min_values: number;
    inverse_freedom: readonly number[];
    /** Barycentric weight of each node. */
    weights: readonly number[];
    /** Row `k - 1`: values at the nodes that |t| exceeds by chance with probability `(1 - level) / k`. */
    values: readonly (readonly number[])[];
}

/** Returns the value that |t| exceeds by chance with probability `(1 - level) / tests`; throws if the core gave no such row. */
export function criticalValue(critical: CriticalValues, freedom: number, tests = 1): number {
    const row = critical.values[tests - 1];
    if (!row) throw new RangeError(`${tests} tests at once: expected 1 to ${critical.values.length}`);
    let above = 0;
    let below = 0;
    for (const [index, node] of critical.inverse_freedom.entries()) {
        const distance = 1 / freedom - node;
        if (distance === 0) return row[index]!;
        const weight = critical.weights[index]! / distance;
        above += weight * row[index]!;
        below += weight;
    }
    return above / below;
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
export function estimate(values: readonly number[], critical: CriticalValues, fraction = false): Estimate | null {
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
    const interval = confidenceInterval(values, critical, fraction);
    if (!interval) return { count, mean, low, high, bounds: "range" };
    return { count, mean, low: interval[0], high: interval[1], bounds: "confidence" };
}

export function meanOf(values: readonly number[]): number {
    let sum = 0;
    for (const value of values) sum += value;
    return sum / values.length;
}

/** Returns the variance with divisor n - 1. */
function variance(values: readonly number[], mean: number): number {
    let sum = 0;
    for (const value of values) sum += (value - mean) * (value - mean);
    return sum / (values.length - 1);
}

/**
 * Returns the confidence interval of the mean: Student's t on the values or on their logarithms (Cox's interval of a
 * log-normal mean, Olsson 2005), whichever reaches further at either end; of fractions of a whole on the values alone.
 * Null where none holds.
 */
export function confidenceInterval(
    values: readonly number[],
    critical: CriticalValues,
    fraction = false,
): [number, number] | null {
    const count = values.length;
    if (count < critical.min_values || values.every((value) => value === values[0])) return null;
    const mean = meanOf(values);
    const deviation = Math.sqrt(variance(values, mean));
    if (!Number.isFinite(deviation)) return null;
    const factor = criticalValue(critical, count - 1);
    const half = (factor * deviation) / Math.sqrt(count);
    let low = mean - half;
    let high = mean + half;
    if (!fraction && values.every((value) => value > 0)) {
        const logarithms = values.map(Math.log);
        const middle = meanOf(logarithms);
        const spread = variance(logarithms, middle);
        const reach = factor * Math.sqrt(spread / count + (spread * spread) / (2 * (count - 1)));
        low = Math.min(low, Math.exp(middle + spread / 2 - reach));
        high = Math.max(high, Math.exp(middle + spread / 2 + reach));
    }
    if (values.every((value) => value >= 0)) low = Math.max(low, 0);
    if (fraction && values.every((value) => value <= 1)) high = Math.min(high, 1);
    return [low, high];
}

/** The second mean less the first, as a test of it. */
export interface Difference {
    /** Ends of its confidence interval, as of one test. */
    low: number;
    high: number;
    /** The difference by its standard error. */
    t: number;
    /** Degrees of freedom. */
    freedom: number;
}

/** Returns the difference of pairs, or with Welch's degrees of freedom. Null of too few runs, or without scatter. */
export function difference(
    first: readonly number[],
    second: readonly number[],
    paired: boolean,
    critical: CriticalValues,
): Difference | null {
    if (Math.min(first.length, second.length) < critical.min_values) return null;
    if (paired) {
        const apart = first.map((value, index) => second[index]! - value);
        const mean = meanOf(apart);
        return tested(mean, Math.sqrt(variance(apart, mean) / apart.length), apart.length - 1, critical);
    }
    const [one, other] = [meanOf(first), meanOf(second)];
    const [a, b] = [variance(first, one) / first.length, variance(second, other) / second.length];
    const freedom = (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1));
    return tested(other - one, Math.sqrt(a + b), freedom, critical);
}

function tested(apart: number, error: number, freedom: number, critical: CriticalValues): Difference | null {
    if (!(error > 0 && Number.isFinite(error))) return null;
    const half = criticalValue(critical, freedom) * error;
    return { low: apart - half, high: apart + half, t: apart / error, freedom };
}

/**
 * Returns which of the differences, tested at once, are larger than chance explains (Holm 1979).
 *
 * A difference is so if its |t| exceeds the critical value for all tests. The others are tested again, as if they were
 * all, until none is added.
 */
export function areSignificant(differences: readonly Difference[], critical: CriticalValues): boolean[] {
    const found = differences.map(() => false);
    for (let tests = found.length, before = 0; tests > 0 && tests !== before; ) {
        for (const [index, { t, freedom }] of differences.entries())
            if (Math.abs(t) > criticalValue(critical, freedom, tests)) found[index] = true;
        before = tests;
        tests = found.filter((each) => !each).length;
    }
    return found;
}
