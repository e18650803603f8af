/** Values that stand beside each other: as many decimals for all, and which of them are the best. */

import type { Metric, Numbers } from "../data/benchmark";

const DIGITS = 4;
const MOST_DECIMALS = 6;

/** Returns how many decimals values beside each other get: four digits for the largest, none for counts. */
export function decimals(values: readonly number[]): number {
    const known = values.filter(Number.isFinite);
    const most = Math.max(0, ...known.map(Math.abs));
    if (most === 0 || known.every(Number.isInteger)) return 0;
    return Math.min(Math.max(DIGITS - 1 - Math.floor(Math.log10(most)), 0), MOST_DECIMALS);
}

/** Returns the value with so many decimals, without a minus in front of zero. */
export function fixed(value: number, places: number): string {
    if (value === 0) return "0";
    const text = value.toFixed(places);
    return Number(text) === 0 ? text.replace("-", "") : text;
}

/** Returns which of the shown values are the best; none if all are alike. */
export function best(
    shown: readonly (string | null)[],
    values: readonly (number | null)[],
    better: Metric["better"],
): boolean[] {
    const known = values.filter((value) => value !== null);
    if (better === "neutral" || new Set(shown.filter((text) => text !== null)).size < 2) return shown.map(() => false);
    const text = shown[values.indexOf(better === "more" ? Math.max(...known) : Math.min(...known))];
    return shown.map((each) => each !== null && each === text);
}

export interface Shown {
    text: string;
    /** The lowest and the highest cell. */
    small: string;
    best: boolean;
}

/** Returns a metric of each scheme as it stands in a table; null of a scheme without it. */
export function shownNumbers(numbers: Numbers, labels: readonly string[], cells: number): (Shown | null)[] {
    const own = labels.map((label) => numbers.values[label] ?? null);
    const places = decimals(own.flatMap((each) => (each ? [each.mean, each.low, each.high] : [])));
    const texts = own.map((each) => each && fixed(each.mean, places));
    const means = own.map((each) => each?.mean ?? null);
    const marks = best(texts, means, numbers.comparable ? numbers.metric.better : "neutral");
    return own.map((each, index) => {
        if (!each) return null;
        const range = each.cells > 1 ? `[${fixed(each.low, places)}, ${fixed(each.high, places)}]` : "";
        const part = numbers.comparable || each.cells === cells ? "" : ` in ${each.cells} of ${cells} cells`;
        return { text: texts[index]!, small: `${range}${part}`, best: marks[index]! };
    });
}

/** Returns the median of the gains in percent, with its sign; `-` of none. */
export function medianGain(gains: readonly number[]): string {
    if (!gains.length) return "-";
    const sorted = [...gains].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    const median = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
    const text = fixed(100 * median, 1);
    return Number(text) > 0 ? `+${text}` : text;
}
