/**
 * Means over runs and their intervals, by the rules of `dumbbell show`: see docs/evidence/intervals.md and
 * docs/reference/findings.md.
 */

/** Critical values of Student's t from the core: nodes of an interpolation over the inverse degrees of freedom. */
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

/** Mean of a metric over runs. `bounds` says which interval `low` to `high` is, as in `dumbbell show --csv`. */
export interface Estimate {
    count: number;
    mean: number;
    low: number | null;
    high: number | null;
    bounds: "confidence" | "range" | "equal" | null;
}

/** Returns the estimate from the values of runs, or null without values. */
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
 * log-normal mean, Olsson 2005), whichever reaches further at either end. Fractions of a whole use the values alone.
 * Returns null if neither applies.
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

/** Difference of two means (second minus first), with its test. */
export interface Difference {
    /** Ends of its confidence interval at the level of a single test. */
    low: number;
    high: number;
    /** Difference divided by its standard error. */
    t: number;
    /** Degrees of freedom. */
    freedom: number;
}

/**
 * Returns the difference of pairs, or one with Welch's degrees of freedom. Returns null for too few runs or without
 * scatter.
 */
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
        return differenceOf(mean, Math.sqrt(variance(apart, mean) / apart.length), apart.length - 1, critical);
    }
    const [one, other] = [meanOf(first), meanOf(second)];
    const [a, b] = [variance(first, one) / first.length, variance(second, other) / second.length];
    const freedom = (a + b) ** 2 / (a ** 2 / (first.length - 1) + b ** 2 / (second.length - 1));
    return differenceOf(other - one, Math.sqrt(a + b), freedom, critical);
}

function differenceOf(apart: number, error: number, freedom: number, critical: CriticalValues): Difference | null {
    if (!(error > 0 && Number.isFinite(error))) return null;
    const half = criticalValue(critical, freedom) * error;
    return { low: apart - half, high: apart + half, t: apart / error, freedom };
}

/**
 * Returns a flag per difference: true if it is significant among all that are tested together (Holm 1979).
 *
 * A difference is significant if its |t| exceeds the critical value for all tests. The remaining differences are tested
 * again by themselves, until no further one is significant.
 */
export function areSignificant(differences: readonly Difference[], critical: CriticalValues): boolean[] {
    const flags = differences.map(() => false);
    for (let tests = flags.length, before = 0; tests > 0 && tests !== before; ) {
        for (const [index, { t, freedom }] of differences.entries())
            if (Math.abs(t) > criticalValue(critical, freedom, tests)) flags[index] = true;
        before = tests;
        tests = flags.filter((each) => !each).length;
    }
    return flags;
}
