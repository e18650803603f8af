/** Parameters in the address of a run's page. */

import type { View } from "../charts/view";

/** Returns the names in a list of an address. */
export function listOf(text: string | null): string[] {
    return (text ?? "").split(",").filter(Boolean).map(decodeName);
}

/** Returns a list of names as an address has it, or null if it is empty. */
export function listText(names: readonly string[]): string | null {
    return names.length > 0 ? names.map(encodeURIComponent).join(",") : null;
}

export function decodeName(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text; // a percent sign of its own
    }
}

/** Returns the part of time between two strings of nanoseconds, or null if they are invalid. */
export function partOf(from: string | null, to: string | null): View | null {
    if (!from || !to) return null;
    const part = { from: Number(from), to: Number(to) };
    return Number.isFinite(part.from) && Number.isFinite(part.to) && part.to > part.from ? part : null;
}

/** Returns the address of a run's page. */
export function runPage(id: string): string {
    return `run/${id.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns a run's identity. `text` is an identity or the address of a run's page. */
export function runMeant(text: string): string {
    const page = /#\/run\/([^?]*)/.exec(text)?.[1];
    return page === undefined ? text.trim() : page.split("/").map(decodeName).join("/");
}
