/** Numbers and names as the project's sentences and tables have them. */

import type { Field } from "./source";
import type { Estimate } from "./statistics";

/** The value with `places` decimals; more where these would make a zero of what is none: 0.004, not 0.00. */
export function decimal(value: number, places: number): string {
    if (Math.abs(value) < 1e-12) return (0).toFixed(places);
    for (let more = places; more < 20; more++) {
        const text = value.toFixed(more);
        if (Number(text) !== 0) return text;
    }
    return value.toExponential(1);
}

/** Writes values of a field for people, without the unit. */
export function numberOf(field: Field): (value: number) => string {
    const factor = field.factor ?? 1;
    const digits = field.digits ?? (field.group === "run" ? 0 : 3);
    return (value) => (Number.isNaN(value) ? "-" : decimal(value * factor, digits));
}

/** `title (unit)`, for heads and axes. */
export function titleOf(field: Field): string {
    return field.unit ? `${capitalized(field.title)} (${field.unit})` : capitalized(field.title);
}

export function capitalized(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A title within a sentence: `p95 one-way delay`; names and abbreviations keep their capitals. */
export function inSentence(title: string): string {
    return /^[A-Z](?:[a-z]+(?!['’a-z])|\d)/.test(title) && !title.startsWith("Jain")
        ? title.charAt(0).toLowerCase() + title.slice(1)
        : title;
}

/** `[low, high]` of an interval, `(low to high)` of a range, `(equal)`; nothing of a single run. */
export function boundsText(found: Estimate, number: (value: number) => string): string {
    if (found.low === null || found.high === null) return "";
    if (found.bounds === "equal") return "(equal)";
    const [low, high] = [number(found.low), number(found.high)];
    return found.bounds === "confidence" ? `[${low}, ${high}]` : `(${low} to ${high})`;
}

/** What stands behind means, as a sentence; nothing if that is nothing. */
export function boundsLegend(found: Iterable<Estimate | null>): string {
    const kinds = new Set([...found].map((each) => each?.bounds));
    const said = [];
    if (kinds.has("confidence"))
        said.push(
            "In brackets: the interval of the mean by Student’s t, nominally of 95 %: it cannot know what none of the runs showed.",
        );
    if (kinds.has("range"))
        said.push("In parentheses: the range of the runs; of fewer than five no confidence interval holds.");
    if (kinds.has("equal")) said.push("Equal: all runs have this value.");
    return said.join(" ");
}

/** `a`, `a and b`, `a, b and c`, or `a, b, c and 4 others`. */
export function listing(names: readonly string[], most = 4): string {
    const shown = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} others`] : [...names];
    const last = shown.pop() ?? "";
    return shown.length ? `${shown.join(", ")} and ${last}` : last;
}

export function counted(count: number, noun: string): string {
    return `${count.toLocaleString("en-US").replaceAll(",", "\u202f")} ${noun}${count === 1 ? "" : "s"}`;
}

const AGES: [number, string][] = [
    [365.25 * 86400, "year"],
    [30.44 * 86400, "month"],
    [86400, "day"],
    [3600, "hour"],
    [60, "minute"],
];

/** `3 days ago`, of a time in seconds since 1970. */
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
