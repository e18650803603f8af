/** A scenario: what the reader chooses. It is in the address of the page, behind the #. */

import type { Catalogue } from "./catalogue";
import { findScheme } from "./catalogue";

export interface Flow {
    scheme: string;
    start_s: number;
    /** null: to the end. */
    stop_s: number | null;
    /** null: the path's own. */
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
    /** Distance of the slots in which packets leave; 0: at once. */
    slot_ms: number;
    /** Traffic beside the flows that heeds nothing. */
    cross_mbps: number;
    /** So much faster are the first packets of flow 1. */
    faster_ms: number;
    duration_s: number;
    seed: number;
}

export interface Limits {
    least: number;
    most: number;
    /** Sliders of what spans powers of ten are logarithmic. */
    log: boolean;
}

export const LIMITS = {
    rate_mbps: { least: 0.2, most: 1000, log: true },
    rtt_ms: { least: 1, most: 800, log: true },
    buffer: { least: 0.1, most: 20, log: true },
    loss_percent: { least: 0, most: 10, log: false },
    jitter_ms: { least: 0, most: 50, log: false },
    slot_ms: { least: 0, most: 50, log: false },
    cross_mbps: { least: 0, most: 500, log: false },
    faster_ms: { least: 0, most: 10, log: false },
    duration_s: { least: 2, most: 300, log: true },
    seed: { least: 1, most: 100, log: false },
} as const satisfies Partial<Record<keyof Scenario, Limits>>;

export type Quantity = keyof typeof LIMITS;

export const MOST_FLOWS = 8;

/** An address with more characters is not read: strangers write addresses, too. */
export const MOST_CHARACTERS = 65_536;

/** So many problems of an address are said, and how many more there are. */
export const MOST_PROBLEMS = 20;

/** The core refuses shorter slots. */
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

/** Lengths of queues in packets or ms have limits of their own. */
export function limitsOf(name: Quantity, unit: Unit): Limits {
    if (name === "buffer" && unit === "packets") return { least: 1, most: 10_000, log: true };
    if (name === "buffer" && unit === "ms") return { least: 1, most: 5000, log: true };
    return LIMITS[name];
}

/** Returns a number within limits; `otherwise` where it is none. */
export function within(value: number, { least, most }: Limits, otherwise: number): number {
    return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise;
}

/** Three digits are enough: whoever reads the address, or the file, shall be able to. */
export function short(value: number): number {
    return Number(value.toPrecision(3));
}

/** Returns a scenario that can be run: numbers within limits, flows in time, jitter within the delay. */
export function valid(given: Scenario, catalogue: Catalogue): Scenario {
    const made = { ...given };
    for (const name of Object.keys(LIMITS) as Quantity[]) {
        made[name] = within(given[name], limitsOf(name, given.unit), DEFAULT[name]);
    }
    made.seed = Math.round(made.seed);
    if (made.unit === "packets") made.buffer = Math.max(1, Math.round(made.buffer));
    if (made.link !== "fixed" && !catalogue.cellular.some((each) => each.name === made.link)) made.link = "fixed";
    if (!catalogue.queues.some((each) => each.name === made.queue)) made.queue = "fifo";
    if (made.unit === "unlimited" && made.queue.startsWith("red")) {
        made.unit = "packets"; // its thresholds are shares of the length
        made.buffer = catalogue.aqm_packets;
    }
    if (made.slot_ms > 0) made.slot_ms = Math.max(made.slot_ms, SHORTEST_SLOT_MS);
    made.jitter_ms = Math.min(made.jitter_ms, made.rtt_ms / 2);
    made.faster_ms = Math.min(made.faster_ms, made.rtt_ms / 4);
    const last = made.duration_s - 0.1;
    made.flows = given.flows
        .filter((flow) => findScheme(catalogue, flow.scheme))
        .slice(0, MOST_FLOWS)
        .map((flow) => {
            const start_s = within(flow.start_s, { least: 0, most: last, log: false }, 0);
            const stop = flow.stop_s === null || flow.stop_s >= made.duration_s ? null : flow.stop_s;
            return {
                scheme: flow.scheme,
                start_s,
                stop_s: stop !== null && stop > start_s ? stop : null,
                rtt_ms: flow.rtt_ms !== null && flow.rtt_ms > made.rtt_ms ? Math.min(flow.rtt_ms, 2000) : null,
            };
        });
    if (made.flows.length === 0) made.flows = DEFAULT.flows;
    return made;
}

/** `cubic@5-20~80`: from 5 s to 20 s, with a base RTT of 80 ms. */
export function flowText(flow: Flow): string {
    const from = flow.start_s || flow.stop_s !== null ? `@${flow.start_s}` : "";
    const to = flow.stop_s === null ? "" : `-${flow.stop_s}`;
    return `${flow.scheme}${from}${to}${flow.rtt_ms === null ? "" : `~${flow.rtt_ms}`}`;
}

// numbers as flowText writes them: small ones have an exponent, 1e-7
const FLOW = /^([a-z0-9][a-z0-9-]*?)(?:@([\d.]+(?:e-?\d+)?)(?:-([\d.]+(?:e-?\d+)?))?)?(?:~([\d.]+(?:e-?\d+)?))?$/;

function readFlow(text: string): Flow | null {
    const found = FLOW.exec(text);
    if (!found) return null;
    const [, scheme = "", start, stop, rtt] = found;
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
    /** What in the address is not understood, one line each, no two alike; the last one may say how many more there are. */
    problems: string[];
}

/** Problems that are counted, and kept as far as they are said. */
class Problems {
    readonly #kept = new Set<string>();
    #more = 0;

    add(problem: string): void {
        if (this.#kept.size < MOST_PROBLEMS) this.#kept.add(problem);
        else if (!this.#kept.has(problem)) this.#more += 1;
    }

    get lines(): string[] {
        return this.#more === 0 ? [...this.#kept] : [...this.#kept, `And ${count(this.#more)} more.`];
    }
}

/** Returns what an address stands for; whatever is not understood is left out and said. */
export function readAddress(hash: string, catalogue: Catalogue, presets: Record<string, Scenario>): Address {
    const problems = new Problems();
    if (hash.length > MOST_CHARACTERS) {
        problems.add(
            `The address has ${count(hash.length)} characters from the # on, and ${count(MOST_CHARACTERS)} are allowed: it was not read.`,
        );
        return { scenario: valid(DEFAULT, catalogue), preset: "", problems: problems.lines };
    }
    const query = new URLSearchParams(hash.replace(/^#\/?\??/, ""));
    const wanted = query.get("preset") ?? "";
    const preset = Object.hasOwn(presets, wanted) ? wanted : "";
    if (wanted && !preset) problems.add(`There is no preset ${quoted(wanted)}.`);
    const given: Scenario = { ...(presets[preset] ?? DEFAULT) };
    const flows = query.get("flows");
    if (flows !== null) given.flows = readFlows(flows, catalogue, problems);
    for (const name of Object.keys(LIMITS) as Quantity[]) {
        const text = query.get(name);
        if (text === null) continue;
        const value = Number(text);
        if (text.trim() === "" || !Number.isFinite(value)) problems.add(`${name} = ${quoted(text)} is no number.`);
        else given[name] = value;
    }
    given.link = query.get("link") ?? given.link;
    given.queue = query.get("queue") ?? given.queue;
    given.unit = UNITS.find((unit) => unit === query.get("unit")) ?? given.unit;
    return { scenario: valid(given, catalogue), preset, problems: problems.lines };
}

/** Reads flows until there are as many as a scenario can have. */
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
        else problems.add(`There is no scheme ${quoted(each)} here.`);
    }
    return flows;
}

function count(value: number): string {
    return value.toLocaleString("en");
}

function quoted(text: string): string {
    return `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;
}

/** Returns the address of a scenario: what differs from its preset, or from the default. */
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
