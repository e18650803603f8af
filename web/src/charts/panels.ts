/** Division of series into panels: only panels with data, with one unit each. */

import { statesOf } from "./series";

export interface SeriesInfo {
    owner: string;
    name: string;
    title: string;
    unit: string;
    /** Names of the states 0, 1, ... for a series of states. */
    names?: string[];
}

export interface PanelSpec {
    id: string;
    title: string;
    unit: string;
    /** `owner/name` of each line. */
    keys: string[];
}

interface Group {
    id: string;
    title: string;
    /** Names of series. A list means one quantity: the first existing name counts. */
    names: (string | string[])[];
    /** Title of a panel for series with another unit than the first. */
    otherTitle?: string;
    /** Names that are left out if several flows are drawn. The reader can add them. */
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
        otherTitle: "Congestion window",
    },
    {
        id: "pacing",
        title: "Pacing and bandwidth estimate",
        names: [["pacing_rate", "pacing"], ["bw", "bandwidth"], "delivery_rate"],
        alone: ["delivery_rate"],
    },
    { id: "queue", title: "Queue", names: [["queue", "queue_bytes"]] },
];

/** Series that only the diagram of packets needs. */
const HIDDEN = new Set(["seq"]);

/** Panels of rates: a series that counts bytes does not fit and stays with the other series. */
const RATES = new Set(["throughput", "pacing"]);

function isRate(unit: string): boolean {
    return /bit\/s|bps$/.test(unit);
}

export function keyOf({ owner, name }: { owner: string; name: string }): string {
    return `${owner}/${name}`;
}

/** Returns the number of the flow that owns a series, or null for a link. */
export function flowOf(owner: string): number | null {
    const match = /^flow (\d+)$/.exec(owner);
    return match ? Number(match[1]) : null;
}

/** Returns an owner's name for people: "bottleneck" for "link data/bottleneck". */
export function ownerText(owner: string): string {
    return owner.replace(/^link (data\/)?/, "").replace(/^path$/, "");
}

export interface PanelChoice {
    panels: PanelSpec[];
    /** Series of named states, drawn as bands. */
    states: SeriesInfo[];
    /** Series that the reader can add. */
    addable: SeriesInfo[];
}

/**
 * Divides the series of a run into panels. `flows`: the flows that are drawn; `added`: names of additional series;
 * `hidden`: panels to hide.
 */
export function panelsOf(
    seriesList: readonly SeriesInfo[],
    bottleneck: string | null,
    flows: ReadonlySet<number>,
    added: readonly string[],
): PanelChoice {
    const visibleSeries = seriesList.filter(({ owner }) => {
        const flow = flowOf(owner);
        return flow === null || flows.has(flow);
    });
    const ofBottleneck = ({ owner }: SeriesInfo) =>
        flowOf(owner) !== null || owner === "path" || bottleneck === null || owner === bottleneck;
    const panels: PanelSpec[] = [];
    const used = new Set<string>();
    const place = ({ id, title, otherTitle = title }: Omit<Group, "names">, series: SeriesInfo[]) => {
        for (const [index, unit] of [...new Set(series.map((each) => each.unit))].entries()) {
            const keys = series.filter((each) => each.unit === unit).map(keyOf);
            for (const key of keys) used.add(key);
            panels.push({
                id: index === 0 ? id : `${id}-${unit}`,
                title: index === 0 ? title : otherTitle,
                unit,
                keys,
            });
        }
    };
    for (const group of PANELS) {
        const fits = (each: SeriesInfo) =>
            ofBottleneck(each) && statesOf(each) === null && (!RATES.has(group.id) || isRate(each.unit));
        const left = flows.size > 1 ? (group.alone ?? []) : [];
        const usable = visibleSeries.filter((each) => fits(each) && !left.includes(each.name));
        const members = group.names.flatMap((name) => {
            const names = typeof name === "string" ? [name] : name;
            const owners = new Map<string, SeriesInfo>();
            for (const alternative of [...names].reverse())
                for (const series of usable) if (series.name === alternative) owners.set(series.owner, series);
            return usable.filter((each) => owners.get(each.owner) === each);
        });
        if (members.length > 0) place(group, members);
    }
    const rest = visibleSeries.filter((each) => !used.has(keyOf(each)) && !HIDDEN.has(each.name));
    const states = rest.filter((each) => statesOf(each) !== null);
    const addableSeries = rest.filter((each) => statesOf(each) === null);
    for (const addedSeries of added) {
        const addedMembers = addableSeries.filter((each) => addedName(each) === addedSeries);
        if (addedMembers.length > 0)
            place({ id: addedSeries, title: capital(addedTitle(addedMembers[0]!)) }, addedMembers);
    }
    return { panels, states, addable: addableSeries };
}

/** Returns the name of an added series in the address: a plain name for fields of flows, owner and name for links. */
export function addedName(series: SeriesInfo): string {
    return flowOf(series.owner) === null ? keyOf(series) : series.name;
}

export function addedTitle(series: SeriesInfo): string {
    return flowOf(series.owner) === null ? `${series.title} of ${ownerText(series.owner)}` : series.title;
}

function capital(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1);
}
