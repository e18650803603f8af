/** Which series are drawn together: only panels of what a run has, and one unit in each. */

import { statesOf } from "./series";

export interface Known {
    owner: string;
    name: string;
    title: string;
    unit: string;
    /** What 0, 1, ... stand for, where values are states. */
    names?: string[];
}

export interface PanelSpec {
    id: string;
    title: string;
    unit: string;
    /** `owner/name` of its lines. */
    keys: string[];
}

interface Group {
    id: string;
    title: string;
    /** Names of series; of names with the same meaning the first that there is. */
    names: (string | string[])[];
    /** What those with another unit than the first are called. */
    others?: string;
    /** Names left out where several flows are drawn: they can be added. */
    alone?: string[];
}

const PANELS: Group[] = [
    {
        id: "throughput",
        title: "Throughput",
        names: ["throughput", "send_rate", "offered_rate", "capacity"],
        alone: ["send_rate"],
    },
    { id: "delay", title: "One-way delay", names: ["one_way_delay"] },
    { id: "rtt", title: "RTT", names: [["rtt", "latest_rtt"], "srtt"] },
    {
        id: "flight",
        title: "In flight and window",
        names: ["in_flight", "window", "cwnd", "ssthresh", "bdp"],
        alone: ["ssthresh"],
        others: "Congestion window",
    },
    {
        id: "pacing",
        title: "Pacing and bandwidth estimate",
        names: [["pacing_rate", "pacing"], ["bw", "bandwidth"], "delivery_rate"],
        alone: ["delivery_rate"],
    },
    { id: "queue", title: "Queue", names: [["queue", "queue_bytes"]] },
];

/** What only the diagram of packets needs. */
const HIDDEN = new Set(["seq"]);

/** Where only rates make sense, what counts bytes stays among the other series. */
const RATES = new Set(["throughput", "pacing"]);

function isRate(unit: string): boolean {
    return /bit\/s|bps$/.test(unit);
}

export function keyOf({ owner, name }: { owner: string; name: string }): string {
    return `${owner}/${name}`;
}

/** Returns what a series belongs to: the number of its flow, or null for those of links. */
export function flowOf(owner: string): number | null {
    const found = /^flow (\d+)$/.exec(owner);
    return found ? Number(found[1]) : null;
}

/** Returns the name of an owner for people: "bottleneck" of "link data/bottleneck". */
export function ownerText(owner: string): string {
    return owner.replace(/^link (data\/)?/, "").replace(/^path$/, "");
}

export interface Chosen {
    panels: PanelSpec[];
    /** Series whose values are names of states: bands. */
    states: Known[];
    /** What can be added. */
    others: Known[];
}

/** Divides the series of a run into panels. `flows` are those that are drawn, `added` are names of other series, `hidden` panels. */
export function panelsOf(
    known: readonly Known[],
    bottleneck: string | null,
    flows: ReadonlySet<number>,
    added: readonly string[],
): Chosen {
    const seen = known.filter(({ owner }) => {
        const flow = flowOf(owner);
        return flow === null || flows.has(flow);
    });
    const ofBottleneck = ({ owner }: Known) =>
        flowOf(owner) !== null || owner === "path" || bottleneck === null || owner === bottleneck;
    const panels: PanelSpec[] = [];
    const used = new Set<string>();
    const place = ({ id, title, others = title }: Omit<Group, "names">, series: Known[]) => {
        for (const [index, unit] of [...new Set(series.map((each) => each.unit))].entries()) {
            const keys = series.filter((each) => each.unit === unit).map(keyOf);
            for (const key of keys) used.add(key);
            panels.push({ id: index === 0 ? id : `${id}-${unit}`, title: index === 0 ? title : others, unit, keys });
        }
    };
    for (const group of PANELS) {
        const fits = (each: Known) =>
            ofBottleneck(each) && statesOf(each) === null && (!RATES.has(group.id) || isRate(each.unit));
        const left = flows.size > 1 ? (group.alone ?? []) : [];
        const usable = seen.filter((each) => fits(each) && !left.includes(each.name));
        const found = group.names.flatMap((name) => {
            const names = typeof name === "string" ? [name] : name;
            const owners = new Map<string, Known>();
            for (const alternative of [...names].reverse())
                for (const each of usable) if (each.name === alternative) owners.set(each.owner, each);
            return usable.filter((each) => owners.get(each.owner) === each);
        });
        if (found.length > 0) place(group, found);
    }
    const rest = seen.filter((each) => !used.has(keyOf(each)) && !HIDDEN.has(each.name));
    const states = rest.filter((each) => statesOf(each) !== null);
    const others = rest.filter((each) => statesOf(each) === null);
    for (const wanted of added) {
        const found = others.filter((each) => addedName(each) === wanted);
        if (found.length > 0) place({ id: wanted, title: capital(addedTitle(found[0]!)) }, found);
    }
    return { panels, states, others };
}

/** Returns what the address calls a series that was added: fields of all flows by their name, those of links in full. */
export function addedName(series: Known): string {
    return flowOf(series.owner) === null ? keyOf(series) : series.name;
}

export function addedTitle(series: Known): string {
    return flowOf(series.owner) === null ? `${series.title} of ${ownerText(series.owner)}` : series.title;
}

function capital(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1);
}
