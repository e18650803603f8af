/** State of the page, stored in its address: `#/page?name=value`. An address reproduces the view. */

import { useEffect, useState } from "preact/hooks";

export interface Address {
    /** `runs`, `run/d1/path/scheme/1`, ... */
    page: string;
    query: URLSearchParams;
}

export function readAddress(hash: string): Address {
    const [page = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
    return { page, query: new URLSearchParams(query) };
}

export function addressOf(page: string, query: URLSearchParams): string {
    const text = query.toString();
    return `#/${page}${text ? `?${text}` : ""}`;
}

export type Changes = Record<string, string | readonly string[] | null>;
export type Change = (changes: Changes, keeps?: boolean) => void;

/** Returns a query with other values: a list gives a name several values, null removes it. */
export function withChanges(query: URLSearchParams, changes: Changes): URLSearchParams {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
        next.delete(name);
        for (const item of value === null ? [] : typeof value === "string" ? [value] : value) next.append(name, item);
    }
    return next;
}

/** Changes the query of the address and notifies all listeners. `keeps` adds no step to the history. */
function change(changes: Changes, keeps = false): void {
    const { page, query } = readAddress(location.hash);
    const next = addressOf(page, withChanges(query, changes));
    if (next === location.hash) return;
    if (keeps) {
        history.replaceState(null, "", next);
        dispatchEvent(new HashChangeEvent("hashchange"));
    } else {
        location.hash = next;
    }
}

/** Returns the address, and a function that changes its query. */
export function useAddress(): [Address, Change] {
    const [address, setAddress] = useState(() => readAddress(location.hash));
    useEffect(() => {
        const listen = () => setAddress(readAddress(location.hash));
        addEventListener("hashchange", listen);
        listen();
        return () => removeEventListener("hashchange", listen);
    }, []);
    return [address, change];
}

/** Returns the query of the address, and a function that changes it. */
export function useQuery(): [URLSearchParams, Change] {
    const [{ query }, change] = useAddress();
    return [query, change];
}
