/** What the address of a run's page says, besides which run it is. */

import type { View } from "../charts/view";

/** Returns the names in a list of an address. */
export function listOf(text: string | null): string[] {
    return (text ?? "").split(",").filter(Boolean).map(decoded);
}

/** Returns a list of names as an address has it, or null where it is empty. */
export function listText(names: readonly string[]): string | null {
    return names.length > 0 ? names.map(encodeURIComponent).join(",") : null;
}

export function decoded(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text; // a percent sign of its own
    }
}

/** Returns the part of time between two numbers of nanoseconds, or null where they are none. */
export function partOf(from: string | null, to: string | null): View | null {
    if (!from || !to) return null;
    const part = { from: Number(from), to: Number(to) };
    return Number.isFinite(part.from) && Number.isFinite(part.to) && part.to > part.from ? part : null;
}

/** Returns the page of a run. */
export function runPage(id: string): string {
    return `run/${id.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns the run that somebody means who writes its identity or the address of its page. */
export function runMeant(text: string): string {
    const page = /#\/run\/([^?]*)/.exec(text)?.[1];
    return page === undefined ? text.trim() : page.split("/").map(decoded).join("/");
}
