/** Run spec of a scenario, and an experiment file with which `dumbbell run` makes an equal run. */

import type { Catalogue, Json, Scheme, Table } from "./catalogue";
import { findScheme } from "./catalogue";
import type { Scenario } from "./scenario";

const CROSS = "udp-cbr";
/** Names of path elements that others refer to. */
const BOTTLENECK = "bottleneck";
const PRIVATE = "private";
/** Duration of the reduced delay of flow 1's first packets, s. */
const FASTER_S = 0.1;

/** Names in the run spec of the reader's files, by scheme. */
export type OwnFiles = Record<string, string>;

/** Returns the nearest integer. Halves go to the even neighbour, as in Python. */
function roundHalfEven(value: number): number {
    const below = Math.floor(value);
    const rest = value - below;
    if (rest !== 0.5) return Math.round(value);
    return below % 2 === 0 ? below : below + 1;
}

/** Returns the rate that converts the queue's length: the mean rate of a cellular link. */
export function linkRate(scenario: Scenario, catalogue: Catalogue): number {
    const cellular = catalogue.cellular.find((each) => each.name === scenario.link);
    return cellular ? Number(cellular.data[0]?.mean_mbps) : scenario.rate_mbps;
}

/** Returns the queue's length in packets, or null without a limit. */
export function queuePackets(scenario: Scenario, catalogue: Catalogue): number | null {
    const { buffer, unit } = scenario;
    if (unit === "unlimited") return null;
    if (unit === "packets") return Math.max(1, roundHalfEven(buffer));
    const lasts_ms = unit === "ms" ? buffer : buffer * scenario.rtt_ms;
    const bits = linkRate(scenario, catalogue) * 1e6 * lasts_ms;
    return Math.max(1, roundHalfEven(bits / 1e3 / 8 / catalogue.packet_bytes));
}

function queue(scenario: Scenario, catalogue: Catalogue): Table {
    const packets = queuePackets(scenario, catalogue);
    const { name, kind } = catalogue.queues.find((each) => each.name === scenario.queue) ?? catalogue.queues[0]!;
    if (packets === null && name === "fifo") return { kind: "infinite" };
    const element: Table = { kind, packets: packets ?? catalogue.aqm_packets };
    if (kind === "red") {
        const maxPackets = Number(element.packets);
        element.min_threshold_packets = Math.max(1, Math.floor(maxPackets / 4));
        element.max_threshold_packets = Math.max(2, Math.floor((3 * maxPackets) / 4));
    }
    if (name.endsWith("-ecn")) element.ecn = true;
    return element;
}

/** Returns the elements of both directions. */
export function elements(scenario: Scenario, catalogue: Catalogue): { data: Table[]; ack: Table[] } {
    const cellular = catalogue.cellular.find((each) => each.name === scenario.link);
    const links: Table[] = cellular
        ? cellular.data
        : [{ kind: "link", name: BOTTLENECK, rate_mbps: scenario.rate_mbps }];
    const data: Table[] = links.map((link) => ({ ...link, queue: queue(scenario, catalogue) }));
    if (scenario.faster_ms > 0) {
        const schedule = [{ at_s: FASTER_S, delay_ms: scenario.faster_ms }];
        data.unshift({ kind: "delay", name: PRIVATE, delay_ms: 0, schedule });
    }
    if (scenario.slot_ms > 0) data.push({ kind: "slotted", slot_ms: scenario.slot_ms });
    if (scenario.loss_percent > 0) data.push({ kind: "loss", probability: scenario.loss_percent / 100 });
    const half = scenario.rtt_ms / 2;
    const { jitter_ms } = scenario;
    if (jitter_ms > 0) {
        data.push({ kind: "jitter", distribution: "uniform", mean_ms: jitter_ms, deviation_ms: jitter_ms });
    }
    if (half > jitter_ms) data.push({ kind: "delay", delay_ms: half - jitter_ms });
    return { data, ack: [{ kind: "delay", delay_ms: half }, ...(cellular?.ack ?? [])] };
}

/** Flow with the parts that both files need. */
interface FlowParts {
    scheme: Scheme;
    start_s: number;
    stop_s: number | null;
    rtt_ms: number | null;
    enter: string | null;
    application: Table | null;
}

function flowParts(scenario: Scenario, catalogue: Catalogue): FlowParts[] {
    const flows: FlowParts[] = [];
    const isSplit = scenario.faster_ms > 0;
    scenario.flows.forEach((flow, index) => {
        const scheme = findScheme(catalogue, flow.scheme);
        const enter = isSplit ? (index === 0 ? PRIVATE : BOTTLENECK) : null;
        if (scheme) flows.push({ ...flow, scheme, enter, application: null });
    });
    const cross = findScheme(catalogue, CROSS);
    if (scenario.cross_mbps > 0 && cross) {
        const application = { kind: "constant", rate_mbps: scenario.cross_mbps };
        const enter = isSplit ? BOTTLENECK : null;
        flows.push({ scheme: cross, start_s: 0, stop_s: null, rtt_ms: null, enter, application });
    }
    return flows;
}

/** Returns the interval of samples, s: short enough for a picture, long enough for a long run. */
export function sampleInterval(duration_s: number): number {
    if (duration_s <= 5) return 0.01;
    if (duration_s <= 30) return 0.05;
    return duration_s <= 90 ? 0.1 : 0.2;
}

/** Returns the warmup of the corrected metrics, s: a sixth, the default of an experiment. */
function warmup(duration_s: number): number {
    return Number((duration_s / 6).toFixed(3));
}

/** Returns the run spec that `_core.simulate` takes. */
export function specification(scenario: Scenario, catalogue: Catalogue, ownFiles: OwnFiles = {}): Table {
    const { name: _, ...path } = catalogue.path;
    return {
        seed: catalogue.seeds[scenario.seed - 1] ?? 1,
        duration_s: scenario.duration_s,
        sample_interval_s: sampleInterval(scenario.duration_s),
        ...catalogue.settings,
        warmup_s: warmup(scenario.duration_s),
        log: "packets",
        path: { ...elements(scenario, catalogue), ...path },
        flows: flowParts(scenario, catalogue).map(({ scheme, start_s, stop_s, rtt_ms, enter, application }) => ({
            scheme: scheme.name,
            controller: scheme.controller,
            parameters: parameters(scheme, ownFiles),
            transport: scheme.transport,
            application: application ?? scheme.application,
            start_s,
            stop_s,
            rtt_ms,
            reverse: false,
            ...(enter === null ? {} : { enter }),
        })),
    };
}

function parameters(scheme: Scheme, ownFiles: OwnFiles): Record<string, string> {
    const file = ownFiles[scheme.name];
    const [needed] = scheme.needs;
    return needed && file ? { ...scheme.parameters, [needed]: file } : scheme.parameters;
}

/** Returns the names of the files that a scenario's run reads. */
export function filesOf(scenario: Scenario, catalogue: Catalogue): string[] {
    const files = scenario.flows.flatMap(({ scheme: name }) => {
        const scheme = findScheme(catalogue, name);
        return scheme ? Object.keys(scheme.files).map((parameter) => scheme.parameters[parameter]!) : [];
    });
    return [...new Set(files)];
}

/** Returns the label of a mix: `cubic*2+bbr`. */
export function mixLabel(names: string[]): string {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].map(([name, count]) => (count === 1 ? name : `${name}*${count}`)).join("+");
}

function tomlText(text: string): string {
    // TOML accepts JSON's escapes. DEL is the exception: JSON leaves it as it is, TOML forbids that.
    return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

function toml(value: Json): string {
    if (typeof value === "string") return tomlText(value);
    if (value === null) throw new Error("TOML has no null");
    if (typeof value !== "object") return String(value);
    if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
    return `{ ${Object.entries(value)
        .map(([key, each]) => `${key} = ${toml(each)}`)
        .join(", ")} }`;
}

/** Returns the experiment file of a scenario. */
export function experimentFile(
    scenario: Scenario,
    catalogue: Catalogue,
    address: string,
    ownFiles: OwnFiles = {},
): string {
    const flows = flowParts(scenario, catalogue);
    const label = mixLabel(flows.map((flow) => flow.scheme.name));
    const { data, ack } = elements(scenario, catalogue);
    const lines = [
        "# From the playground of dumbbell. To run it: dumbbell run THIS-FILE.toml --out results",
        `# ${address.replaceAll(/[^\x20-\x7e]/g, "?")}`,
        'name = "playground"',
        'title = "A scenario of the playground"',
        flows.length === 1 ? `schemes = [${tomlText(label)}]` : `mixes = [${tomlText(label)}]`,
        `paths = [${tomlText(catalogue.path.name)}]`,
        `seed = ${scenario.seed}`,
        `duration_s = ${scenario.duration_s}`,
        `warmup_s = ${warmup(scenario.duration_s)}`,
        `sample_interval_s = ${sampleInterval(scenario.duration_s)}`,
        "# flows start when they are told, and hosts answer at once",
        "start_spread_ms = 0",
        "host_jitter_us = 0",
        'log = "packets"',
    ];
    for (const flow of flows) {
        lines.push("", "[[flow]]", `scheme = ${tomlText(flow.scheme.name)}`, `start_s = ${flow.start_s}`);
        if (flow.stop_s !== null) lines.push(`stop_s = ${flow.stop_s}`);
        if (flow.rtt_ms !== null) lines.push(`rtt_ms = ${flow.rtt_ms}`);
        if (flow.enter !== null) lines.push(`enter = ${tomlText(flow.enter)}`);
        if (flow.application !== null) lines.push(`application = ${toml(flow.application)}`);
    }
    for (const scheme of new Set(flows.map((flow) => flow.scheme))) {
        const [needed] = scheme.needs;
        const file = ownFiles[scheme.name];
        if (!needed || !file) continue;
        lines.push("", "# the file that was dropped on the page: its place beside this file");
        lines.push(`[scheme.${scheme.name}]`, `title = ${tomlText(scheme.title)}`);
        lines.push(`controller = ${tomlText(scheme.controller)}`, `parameters = ${toml(parameters(scheme, ownFiles))}`);
        lines.push(`transport = ${toml(scheme.transport)}`);
        if (scheme.application.kind !== "greedy") lines.push(`application = ${toml(scheme.application)}`);
    }
    lines.push("", `[path.${catalogue.path.name}]`, 'title = "The path of the playground"');
    for (const [direction, list] of [
        ["data", data],
        ["ack", ack],
    ] as const) {
        lines.push(`${direction} = [`, ...list.map((element) => `    ${toml(element)},`), "]");
    }
    return `${lines.join("\n")}\n`;
}
