/** The state of the page is its address: `#/page?name=value`. Whoever has the address sees the same. */

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

/** Returns the address, and what changes parts of its query: null removes one. `keeps` makes no step of the history. */
export function useAddress(): [Address, (changes: Record<string, string | null>, keeps?: boolean) => void] {
    const [address, setAddress] = useState(() => readAddress(location.hash));
    useEffect(() => {
        const listen = () => setAddress(readAddress(location.hash));
        addEventListener("hashchange", listen);
        return () => removeEventListener("hashchange", listen);
    }, []);
    const change = (changes: Record<string, string | null>, keeps = false) => {
        const { page, query } = readAddress(location.hash);
        for (const [name, value] of Object.entries(changes)) {
            if (value === null) query.delete(name);
            else query.set(name, value);
        }
        const next = addressOf(page, query);
        if (next === location.hash) return;
        if (keeps) {
            history.replaceState(null, "", next);
            setAddress(readAddress(next));
        } else {
            location.hash = next;
        }
    };
    return [address, change];
}
