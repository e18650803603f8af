/** Which series are drawn together: only panels of what a run has, and one unit in each. */

import { statesOf } from "./series";

export interface Known {
    owner: string;
    name: string;
    title: string;
    unit: string;
}

export interface PanelSpec {
    id: string;
    title: string;
    unit: string;
    /** `owner/name` of its lines. */
    keys: string[];
}

const PANELS: { id: string; title: string; names: string[] }[] = [
    {
        id: "throughput",
        title: "Throughput",
        names: ["capacity", "throughput", "send_rate", "offered_rate", "offered"],
    },
    { id: "delay", title: "One-way delay", names: ["one_way_delay"] },
    { id: "rtt", title: "RTT", names: ["rtt", "latest_rtt", "srtt"] },
    { id: "flight", title: "In flight and window", names: ["in_flight", "cwnd", "window", "ssthresh", "bdp"] },
    { id: "pacing", title: "Pacing and bandwidth estimate", names: ["pacing_rate", "delivery_rate", "bw"] },
    { id: "queue", title: "Queue", names: ["queue"] },
];

/** Series that are shown from another one with the same meaning, or that only other parts need. */
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
    return owner.replace(/^link (data\/)?/, "");
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
    const ofBottleneck = ({ owner }: Known) => flowOf(owner) !== null || bottleneck === null || owner === bottleneck;
    const panels: PanelSpec[] = [];
    const used = new Set<string>();
    const place = (id: string, title: string, series: Known[]) => {
        const units = [...new Set(series.map(({ unit }) => unit))];
        for (const unit of units) {
            const of = series.filter((each) => each.unit === unit);
            for (const each of of) used.add(keyOf(each));
            const names = [...new Set(of.map((each) => each.title))].join(", ");
            panels.push({
                id: units.length > 1 ? `${id}-${unit}` : id,
                title: units.length > 1 ? capital(names) : title,
                unit,
                keys: of.map(keyOf),
            });
        }
    };
    for (const { id, title, names } of PANELS) {
        const found = names.flatMap((name) =>
            seen.filter(
                (each) =>
                    each.name === name &&
                    ofBottleneck(each) &&
                    statesOf(each.unit) === null &&
                    (!RATES.has(id) || isRate(each.unit)),
            ),
        );
        if (id === "queue" && found.length === 0)
            found.push(...seen.filter((each) => each.name === "queue_bytes" && ofBottleneck(each)));
        if (found.length > 0) place(id, title, found);
    }
    const rest = seen.filter((each) => !used.has(keyOf(each)) && !HIDDEN.has(each.name));
    const states = rest.filter((each) => statesOf(each.unit) !== null);
    const others = rest.filter((each) => statesOf(each.unit) === null);
    for (const wanted of added) {
        const found = others.filter((each) => addedName(each) === wanted);
        if (found.length > 0) place(wanted, capital(addedTitle(found[0]!)), found);
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
