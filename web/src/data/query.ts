/** The query of the address with names that have several values, shared by all parts of the page. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { addressOf, readAddress } from "./state";

export type Changes = Record<string, string | readonly string[] | null>;

/** Returns the query, and what changes it: a list gives a name several values, null removes it. `keeps` makes no step of the history. */
export function useQuery(): [URLSearchParams, (changes: Changes, keeps?: boolean) => void] {
    const [query, setQuery] = useState(() => readAddress(location.hash).query);
    useEffect(() => {
        const listen = () => setQuery(readAddress(location.hash).query);
        addEventListener("hashchange", listen);
        listen();
        return () => removeEventListener("hashchange", listen);
    }, []);
    const change = useCallback((changes: Changes, keeps = false) => changeQuery(changes, keeps), []);
    return [query, change];
}

function changeQuery(changes: Changes, keeps: boolean): void {
    const { page, query } = readAddress(location.hash);
    const next = addressOf(page, changed(query, changes));
    if (next === location.hash) return;
    if (keeps) {
        history.replaceState(null, "", next);
        dispatchEvent(new HashChangeEvent("hashchange"));
    } else {
        location.hash = next;
    }
}

export function changed(query: URLSearchParams, changes: Changes): URLSearchParams {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
        next.delete(name);
        for (const each of value === null ? [] : typeof value === "string" ? [value] : value) next.append(name, each);
    }
    return next;
}
