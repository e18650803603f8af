/** Scenario: the reader's choices, stored in the address of the page behind the #. */

import type { Catalogue } from "./catalogue";
import { findScheme } from "./catalogue";

export interface Flow {
    scheme: string;
    start_s: number;
    /** Stop time, s; null: the end of the run. */
    stop_s: number | null;
    /** Base RTT, ms; null: that of the path. */
    rtt_ms: number | null;
}

export const UNITS = ["bdp", "packets", "ms", "unlimited"] as const;
export type Unit = (typeof UNITS)[number];

export interface Scenario {
    flows: Flow[];
    /** "fixed", or the name of a cellular link. */
    link: string;
    rate_mbps: number;
    rtt_ms: number;
    buffer: number;
    unit: Unit;
    queue: string;
    loss_percent: number;
    jitter_ms: number;
    /** Distance of the slots in which packets leave, ms; 0: no slots. */
    slot_ms: number;
    /** Rate of cross traffic that ignores congestion, Mbit/s. */
    cross_mbps: number;
    /** Reduction of the delay of the first packets of flow 1, ms. */
    faster_ms: number;
    duration_s: number;
    seed: number;
}

export interface Limits {
    least: number;
    max: number;
    /** True for a logarithmic slider. */
    log: boolean;
}

export const LIMITS = {
    rate_mbps: { least: 0.2, max: 1000, log: true },
    rtt_ms: { least: 1, max: 800, log: true },
    buffer: { least: 0.1, max: 20, log: true },
    loss_percent: { least: 0, max: 10, log: false },
    jitter_ms: { least: 0, max: 50, log: false },
    slot_ms: { least: 0, max: 50, log: false },
    cross_mbps: { least: 0, max: 500, log: false },
    faster_ms: { least: 0, max: 10, log: false },
    duration_s: { least: 2, max: 300, log: true },
    seed: { least: 1, max: 100, log: false },
} as const satisfies Partial<Record<keyof Scenario, Limits>>;

export type Quantity = keyof typeof LIMITS;

export const MOST_FLOWS = 8;

/** Maximum length of an address, characters. Strangers write addresses, too. */
export const MOST_CHARACTERS = 65_536;

/** Maximum number of problems of an address that are listed; the rest is counted. */
export const MOST_PROBLEMS = 20;

/** Minimum slot that the core accepts, ms. */
const SHORTEST_SLOT_MS = 0.001;

export const DEFAULT: Scenario = {
    flows: [{ scheme: "cubic", start_s: 0, stop_s: null, rtt_ms: null }],
    link: "fixed",
    rate_mbps: 20,
    rtt_ms: 40,
    buffer: 4,
    unit: "bdp",
    queue: "fifo",
    loss_percent: 0,
    jitter_ms: 0,
    slot_ms: 0,
    cross_mbps: 0,
    faster_ms: 0,
    duration_s: 20,
    seed: 1,
};

/** Returns the limits of a quantity. Queue lengths in packets or ms have their own limits. */
export function limitsOf(name: Quantity, unit: Unit): Limits {
    if (name === "buffer" && unit === "packets") return { least: 1, max: 10_000, log: true };
    if (name === "buffer" && unit === "ms") return { least: 1, max: 5000, log: true };
    return LIMITS[name];
}

/** Returns a number moved within limits, or `otherwise` if it is not a number. */
export function within(value: number, { least, max }: Limits, otherwise: number): number {
    return Number.isFinite(value) ? Math.min(max, Math.max(least, value)) : otherwise;
}

/** Returns the number with three digits, so that the address and the file stay readable. */
export function short(value: number): number {
    return Number(value.toPrecision(3));
}

/** Returns a valid scenario: numbers within limits, flows within the duration, jitter within the delay. */
export function valid(scenario: Scenario, catalogue: Catalogue): Scenario {
    const result = { ...scenario };
    for (const name of Object.keys(LIMITS) as Quantity[]) {
        result[name] = within(scenario[name], limitsOf(name, scenario.unit), DEFAULT[name]);
    }
    result.seed = Math.round(result.seed);
    if (result.unit === "packets") result.buffer = Math.max(1, Math.round(result.buffer));
    if (result.link !== "fixed" && !catalogue.cellular.some((each) => each.name === result.link)) result.link = "fixed";
    if (!catalogue.queues.some((each) => each.name === result.queue)) result.queue = "fifo";
    if (result.unit === "unlimited" && result.queue.startsWith("red")) {
        result.unit = "packets"; // its thresholds are shares of the length
        result.buffer = catalogue.aqm_packets;
    }
    if (result.slot_ms > 0) result.slot_ms = Math.max(result.slot_ms, SHORTEST_SLOT_MS);
    result.jitter_ms = Math.min(result.jitter_ms, result.rtt_ms / 2);
    result.faster_ms = Math.min(result.faster_ms, result.rtt_ms / 4);
    const last = result.duration_s - 0.1;
    result.flows = scenario.flows
        .filter((flow) => findScheme(catalogue, flow.scheme))
        .slice(0, MOST_FLOWS)
        .map((flow) => {
            const start_s = within(flow.start_s, { least: 0, max: last, log: false }, 0);
            const stop = flow.stop_s === null || flow.stop_s >= result.duration_s ? null : flow.stop_s;
            return {
                scheme: flow.scheme,
                start_s,
                stop_s: stop !== null && stop > start_s ? stop : null,
                rtt_ms: flow.rtt_ms !== null && flow.rtt_ms > result.rtt_ms ? Math.min(flow.rtt_ms, 2000) : null,
            };
        });
    if (result.flows.length === 0) result.flows = DEFAULT.flows;
    return result;
}

/** Returns a flow as text: `cubic@5-20~80` runs from 5 s to 20 s with a base RTT of 80 ms. */
export function flowText(flow: Flow): string {
    const from = flow.start_s || flow.stop_s !== null ? `@${flow.start_s}` : "";
    const to = flow.stop_s === null ? "" : `-${flow.stop_s}`;
    return `${flow.scheme}${from}${to}${flow.rtt_ms === null ? "" : `~${flow.rtt_ms}`}`;
}

// Numbers as flowText writes them: small ones have an exponent, 1e-7.
const FLOW = /^([a-z0-9][a-z0-9-]*?)(?:@([\d.]+(?:e-?\d+)?)(?:-([\d.]+(?:e-?\d+)?))?)?(?:~([\d.]+(?:e-?\d+)?))?$/;

function readFlow(text: string): Flow | null {
    const match = FLOW.exec(text);
    if (!match) return null;
    const [, scheme = "", start, stop, rtt] = match;
    return {
        scheme,
        start_s: start === undefined ? 0 : Number(start),
        stop_s: stop === undefined ? null : Number(stop),
        rtt_ms: rtt === undefined ? null : Number(rtt),
    };
}

export interface Address {
    scenario: Scenario;
    preset: string;
    /** Problems of the address, one distinct line each. The last line may give the number of further ones. */
    problems: string[];
}

/** List of problems that counts all and stores only those that are listed. */
class Problems {
    readonly #listedProblems = new Set<string>();
    #more = 0;

    add(problem: string): void {
        if (this.#listedProblems.size < MOST_PROBLEMS) this.#listedProblems.add(problem);
        else if (!this.#listedProblems.has(problem)) this.#more += 1;
    }

    get lines(): string[] {
        return this.#more === 0
            ? [...this.#listedProblems]
            : [...this.#listedProblems, `And ${count(this.#more)} more.`];
    }
}

/** Returns the scenario of an address. Invalid parts are left out and reported. */
export function readAddress(hash: string, catalogue: Catalogue, presets: Record<string, Scenario>): Address {
    const problems = new Problems();
    if (hash.length > MOST_CHARACTERS) {
        problems.add(
            `The address has ${count(hash.length)} characters from the # on, and ${count(MOST_CHARACTERS)} are allowed: it was not read.`,
        );
        return { scenario: valid(DEFAULT, catalogue), preset: "", problems: problems.lines };
    }
    const query = new URLSearchParams(hash.replace(/^#\/?\??/, ""));
    const presetName = query.get("preset") ?? "";
    const preset = Object.hasOwn(presets, presetName) ? presetName : "";
    if (presetName && !preset) problems.add(`There is no preset ${quote(presetName)}.`);
    const base: Scenario = { ...(presets[preset] ?? DEFAULT) };
    const flows = query.get("flows");
    if (flows !== null) base.flows = readFlows(flows, catalogue, problems);
    for (const name of Object.keys(LIMITS) as Quantity[]) {
        const text = query.get(name);
        if (text === null) continue;
        const value = Number(text);
        if (text.trim() === "" || !Number.isFinite(value)) problems.add(`${name} = ${quote(text)} is no number.`);
        else base[name] = value;
    }
    base.link = query.get("link") ?? base.link;
    base.queue = query.get("queue") ?? base.queue;
    base.unit = UNITS.find((unit) => unit === query.get("unit")) ?? base.unit;
    return { scenario: valid(base, catalogue), preset, problems: problems.lines };
}

/** Parses flows, up to the maximum number of a scenario. */
function readFlows(text: string, catalogue: Catalogue, problems: Problems): Flow[] {
    const flows: Flow[] = [];
    const texts = text.split(",");
    for (const [index, each] of texts.entries()) {
        if (flows.length === MOST_FLOWS) {
            problems.add(`At most ${MOST_FLOWS} flows are allowed: ${count(texts.length - index)} more were not read.`);
            break;
        }
        const flow = readFlow(each);
        if (flow && findScheme(catalogue, flow.scheme)) flows.push(flow);
        else problems.add(`There is no scheme ${quote(each)} here.`);
    }
    return flows;
}

function count(value: number): string {
    return value.toLocaleString("en");
}

function quote(text: string): string {
    return `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;
}

/** Returns the address of a scenario: its differences from its preset, or from the default. */
export function addressOf(scenario: Scenario, preset: string, presets: Record<string, Scenario>): string {
    const base = presets[preset] ?? DEFAULT;
    const parts: string[] = preset ? [`preset=${preset}`] : [];
    const flows = scenario.flows.map(flowText).join(",");
    if (flows !== base.flows.map(flowText).join(",")) parts.push(`flows=${flows}`);
    for (const name of ["link", "queue", "unit", ...Object.keys(LIMITS)] as (Quantity | "link" | "queue" | "unit")[]) {
        if (scenario[name] !== base[name]) parts.push(`${name}=${scenario[name]}`);
    }
    return `#${parts.join("&")}`;
}
