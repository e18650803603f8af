/** Other runs: the previous and the next one, and likely candidates for a comparison. */

import { type RunsFacts, runsColumn } from "../data/source";

/** Returns the identities of all runs in the order of the table, or none if their columns cannot be read. */
export async function runIdentities(facts: RunsFacts): Promise<string[]> {
    const names = ["directory", "path", "scheme", "run"];
    try {
        const columns = await Promise.all(
            names.map((name) => runsColumn(name).then((table) => table.column("values"))),
        );
        const parts = columns.map(({ values, names: texts }, index) => {
            if (texts) return (row: number) => texts[values[row]!] ?? "";
            if (index === 0) return (row: number) => facts.directories[values[row]!]?.id ?? "";
            return (row: number) => String(values[row]);
        });
        return Array.from({ length: facts.rows }, (_, row) => parts.map((part) => part(row)).join("/"));
    } catch {
        return []; // pages of one run have no others
    }
}

/** Returns runs to overlay, best first: runs on an equal path, then runs of an equal scheme, then the rest. */
export function likelyOthers(id: string, identities: readonly string[], maxCount: number): string[] {
    const [directory, path, scheme] = id.split("/");
    const near = (other: string) => {
        const [itsDirectory, itsPath, itsScheme] = other.split("/");
        return (itsPath === path ? 4 : 0) + (itsScheme === scheme ? 2 : 0) + (itsDirectory === directory ? 1 : 0);
    };
    const byNearness: string[][] = [[], [], [], [], [], [], [], []];
    for (const other of identities) if (other !== id) byNearness[near(other)]!.push(other);
    return byNearness.reverse().flat().slice(0, maxCount);
}
