/** Formatting of numbers and names in sentences and tables. */

import type { Field } from "./source";
import type { Estimate } from "./statistics";

/** Returns the value with `places` decimals, or more if it would read as zero: 0.004, not 0.00. */
export function decimal(value: number, places: number): string {
    if (Math.abs(value) < 1e-12) return (0).toFixed(places);
    for (let more = places; more < 20; more++) {
        const text = value.toFixed(more);
        if (Number(text) !== 0) return text;
    }
    return value.toExponential(1);
}

/** Returns a function that formats values of a field without the unit. */
export function numberOf(field: Field): (value: number) => string {
    const factor = field.factor ?? 1;
    const digits = field.digits ?? (field.group === "run" ? 0 : 3);
    return (value) => (Number.isNaN(value) ? "-" : decimal(value * factor, digits));
}

/** Returns `title (unit)`, for axes and heads of columns. */
export function titleOf(field: Field): string {
    return field.unit ? `${capitalize(field.title)} (${field.unit})` : capitalize(field.title);
}

export function capitalize(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns a title as it reads within a sentence: `p95 one-way delay`. Names and abbreviations keep their capitals. */
export function inSentence(title: string): string {
    return /^[A-Z](?:[a-z]+(?!['’a-z])|\d)/.test(title) && !title.startsWith("Jain")
        ? title.charAt(0).toLowerCase() + title.slice(1)
        : title;
}

/** Returns `[low, high]` for an interval, `(low to high)` for a range, `(equal)`, or "" for a single run. */
export function boundsText(estimate: Estimate, number: (value: number) => string): string {
    if (estimate.low === null || estimate.high === null) return "";
    if (estimate.bounds === "equal") return "(equal)";
    const [low, high] = [number(estimate.low), number(estimate.high)];
    return estimate.bounds === "confidence" ? `[${low}, ${high}]` : `(${low} to ${high})`;
}

/** Returns a sentence that explains the intervals behind means, or "" if there are none. */
export function boundsLegend(estimates: Iterable<Estimate | null>): string {
    const kinds = new Set([...estimates].map((each) => each?.bounds));
    const sentences = [];
    if (kinds.has("confidence"))
        sentences.push(
            "In brackets: the interval of the mean by Student’s t, nominally of 95 %: it cannot know what none of the runs showed.",
        );
    if (kinds.has("range"))
        sentences.push("In parentheses: the range of the runs; of fewer than five no confidence interval holds.");
    if (kinds.has("equal")) sentences.push("Equal: all runs have this value.");
    return sentences.join(" ");
}

/** Returns `a`, `a and b`, `a, b and c`, or `a, b, c and 4 others`. */
export function listing(names: readonly string[], most = 4): string {
    const listedNames =
        names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} others`] : [...names];
    const last = listedNames.pop() ?? "";
    return listedNames.length ? `${listedNames.join(", ")} and ${last}` : last;
}

export function countText(count: number, noun: string): string {
    return `${count.toLocaleString("en-US").replaceAll(",", "\u202f")} ${noun}${count === 1 ? "" : "s"}`;
}

const AGES: [number, string][] = [
    [365.25 * 86400, "year"],
    [30.44 * 86400, "month"],
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
];

/** Returns the age of a time in seconds since 1970: `3 days ago`. */
export function ageText(time_s: number, now_s = Date.now() / 1000): string {
    if (Number.isNaN(time_s)) return "-";
    const age = now_s - time_s;
    for (const [length, noun] of AGES) {
        const count = Math.floor(Math.abs(age) / length);
        if (count >= 1)
            return age < 0
                ? `in ${count} ${noun}${count === 1 ? "" : "s"}`
                : `${count} ${noun}${count === 1 ? "" : "s"} ago`;
    }
    return "now";
}
