/** Facets: the runs of each path of each results directory, by scheme. Charts are drawn from facets. */

import { estimateOf, type Group, groupRows, type Runs, valuesOf } from "../data/runs";
import type { Findings } from "../data/source";
import type { Estimate } from "../data/statistics";

export interface SchemeRuns {
    scheme: string;
    rows: number[];
}

export interface Facet {
    directory: string;
    path: string;
    /** Path. The directory precedes it if there are several. */
    title: string;
    schemes: SchemeRuns[];
    /** True if flows of a competing scheme share the path. No scheme then runs by itself. */
    beside: boolean;
    /** Schemes that comparisons leave out because they break a rule for conduct. */
    leftOut: readonly string[];
}

/** Axes of grids that name competing schemes. */
const COMPETITORS = ["axis:versus", "axis:scheme"];

export const MOST_FACETS = 12;

/**
 * Returns the facets in the order of the table. All runs of a scheme on a path decide about its conduct, whatever the
 * filter.
 */
export function facetsOf(runs: Runs, rows: Uint32Array, findings: Findings): Facet[] {
    const competitors = COMPETITORS.filter((name) => runs.has(name));
    const several = runs.facts.directories.length > 1;
    const facets = new Map<string, Facet>();
    for (const group of groupRows(runs, rows, ["directory", "path", "scheme"])) {
        const [directory = "", path = "", scheme = ""] = group.values;
        const key = JSON.stringify([directory, path]);
        let facet = facets.get(key);
        if (!facet) {
            const title = several ? `${path} (${runs.directoryLabel(directory)})` : path;
            const row = group.rows[0]!;
            const beside = competitors.some((name) => {
                const value = runs.text(name, row);
                return value !== "" && !value.includes("alone");
            });
            const leftOut = leftOutOf(findings, directory, path);
            facet = { directory, path, title, schemes: [], beside, leftOut };
            facets.set(key, facet);
        }
        facet.schemes.push({ scheme, rows: goodRows(runs, group) });
    }
    const order = schemeOrder(runs);
    for (const facet of facets.values()) facet.schemes.sort((a, b) => (order(a.scheme) < order(b.scheme) ? -1 : 1));
    return [...facets.values()];
}

/** Returns the schemes on a path that comparisons leave out because they break a rule for conduct. */
export function leftOutOf(findings: Findings, directory: string, path: string): readonly string[] {
    return findings[directory]?.left_out[path] ?? [];
}

/** Returns the members of `all` with sound conduct. If no member is sound, returns all of them. */
export function soundOrAll<T>(candidates: readonly T[], isLeftOut: (each: T) => boolean): readonly T[] {
    const sound = candidates.filter((each) => !isLeftOut(each));
    return sound.length ? sound : candidates;
}

/**
 * Returns a function that gives the sort key of a scheme: experiment order, mixes last. The table lists runs in the
 * order in which they ended.
 */
export function schemeOrder(runs: Runs): (scheme: string) => string {
    const order = new Map(Object.keys(runs.facts.schemes).map((scheme, place) => [scheme, place]));
    const places = (scheme: string) =>
        [...partsOf(scheme).keys()]
            .map((part) => order.get(part) ?? order.size)
            .map((place) => place.toString(36).padStart(4, "0"));
    return (scheme) => `${isMix(scheme) ? 1 : 0} ${places(scheme).join(" ")} ${scheme}`;
}

function goodRows(runs: Runs, group: Group): number[] {
    return group.good === group.rows.length ? group.rows : group.rows.filter((row) => runs.counts(row));
}

/** Returns true if the flows of a run have several schemes. */
export function isMix(scheme: string): boolean {
    return scheme.includes("+");
}

/** Returns the number of flows of each scheme in a mix such as `cubic*2+bbr`. */
export function partsOf(mix: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const part of mix.split("+")) {
        const [, name = "", count = "1"] = /^(.*?)(?:\*(\d+))?$/.exec(part.trim()) ?? [];
        counts.set(name, (counts.get(name) ?? 0) + Number(count));
    }
    return counts;
}

/** Returns the entries of `filter` that select a facet, or one scheme in it. */
export function filterOf(runs: Runs, facet: Facet, scheme?: string): string[] {
    return [
        ...(runs.facts.directories.length > 1 ? [`directory:${facet.directory}`] : []),
        `path:${facet.path}`,
        ...(scheme === undefined ? [] : [`scheme:${scheme}`]),
    ];
}

/** Returns the address of the list of these runs. Filters of other fields stay. */
export function tableAddress(entries: readonly string[], facetEntries: readonly string[]): string {
    const query = new URLSearchParams({ list: "runs" });
    const fields = facetEntries.map((entry) => entry.slice(0, entry.indexOf(":") + 1));
    for (const entry of [...entries.filter((each) => !fields.some((field) => each.startsWith(field))), ...facetEntries])
        query.append("filter", entry);
    return `#/runs?${query}`;
}

export { type Estimate, estimateOf, valuesOf };
