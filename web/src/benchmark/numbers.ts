/** Numbers in columns: a common number of decimals, and marks for the best values. */

import type { Metric, Numbers } from "../data/benchmark";

const DIGITS = 4;
const MOST_DECIMALS = 6;

/** Returns the number of decimals for a column: four digits for the largest value, none for counts. */
export function decimals(values: readonly number[]): number {
    const finiteValues = values.filter(Number.isFinite);
    const largest = Math.max(0, ...finiteValues.map(Math.abs));
    if (largest === 0 || finiteValues.every(Number.isInteger)) return 0;
    return Math.min(Math.max(DIGITS - 1 - Math.floor(Math.log10(largest)), 0), MOST_DECIMALS);
}

/** Returns the value with `places` decimals, and without a minus sign in front of zero. */
export function fixed(value: number, places: number): string {
    if (value === 0) return "0";
    const text = value.toFixed(places);
    return Number(text) === 0 ? text.replace("-", "") : text;
}

/** Returns a flag per value: true for the best ones. All flags are false if all shown values are equal. */
export function best(
    texts: readonly (string | null)[],
    values: readonly (number | null)[],
    better: Metric["better"],
): boolean[] {
    const presentValues = values.filter((value) => value !== null);
    if (better === "neutral" || new Set(texts.filter((text) => text !== null)).size < 2) return texts.map(() => false);
    const text = texts[values.indexOf(better === "more" ? Math.max(...presentValues) : Math.min(...presentValues))];
    return texts.map((each) => each !== null && each === text);
}

export interface TableNumber {
    text: string;
    /** Range over the cells, from lowest to highest. */
    small: string;
    best: boolean;
}

/** Returns a metric of each scheme as a table shows it, or null for a scheme without the metric. */
export function shownNumbers(numbers: Numbers, labels: readonly string[], cells: number): (TableNumber | null)[] {
    const schemeNumbers = labels.map((label) => numbers.values[label] ?? null);
    const places = decimals(schemeNumbers.flatMap((each) => (each ? [each.mean, each.low, each.high] : [])));
    const texts = schemeNumbers.map((each) => each && fixed(each.mean, places));
    const means = schemeNumbers.map((each) => each?.mean ?? null);
    const marks = best(texts, means, numbers.comparable ? numbers.metric.better : "neutral");
    return schemeNumbers.map((each, index) => {
        if (!each) return null;
        const range = each.cells > 1 ? `[${fixed(each.low, places)}, ${fixed(each.high, places)}]` : "";
        const part = numbers.comparable || each.cells === cells ? "" : ` in ${each.cells} of ${cells} cells`;
        return { text: texts[index]!, small: `${range}${part}`, best: marks[index]! };
    });
}

/** Returns the median of the gains in percent, with its sign, or `-` without gains. */
export function medianGain(gains: readonly number[]): string {
    if (!gains.length) return "-";
    const ascending = [...gains].sort((a, b) => a - b);
    const middle = ascending.length >> 1;
    const median = ascending.length % 2 ? ascending[middle]! : (ascending[middle - 1]! + ascending[middle]!) / 2;
    const text = fixed(100 * median, 1);
    return Number(text) > 0 ? `+${text}` : text;
}
