/** Requests for the shown window: throttled, and the newest request wins. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunData } from "../data/source";
import { type WindowData, windowData } from "./series";
import type { View } from "./view";

const PATIENCE_MS = 40;

export interface Answer<T> {
    /** Latest response. It stays while the next request is pending. */
    data: T | null;
    isWaiting: boolean;
    problem: string;
}

/** Returns the response to the newest request; a null `ask` requests nothing. A changed `key` starts a new request. */
export function useNewest<T>(ask: (() => Promise<T>) | null, key: string): Answer<T> {
    const [answer, setAnswer] = useState<Answer<T>>({ data: null, isWaiting: ask !== null, problem: "" });
    const turn = useRef({ newest: 0, busy: false, next: null as (() => void) | null });
    useEffect(() => {
        const state = turn.current;
        const number = ++state.newest;
        state.next = null;
        if (!ask) {
            setAnswer({ data: null, isWaiting: false, problem: "" });
            return;
        }
        setAnswer((last) => (last.isWaiting ? last : { ...last, isWaiting: true }));
        const start = () => {
            // One request at a time: requests that became old meanwhile are skipped.
            if (state.busy) {
                state.next = start;
                return;
            }
            state.busy = true;
            ask()
                .then(
                    (data) => number === state.newest && setAnswer({ data, isWaiting: false, problem: "" }),
                    (error: Error) =>
                        number === state.newest &&
                        setAnswer((last) => ({ data: last.data, isWaiting: false, problem: error.message })),
                )
                .finally(() => {
                    state.busy = false;
                    const next = state.next;
                    state.next = null;
                    next?.();
                });
        };
        const timer = setTimeout(start, state.newest === 1 ? 0 : PATIENCE_MS);
        return () => clearTimeout(timer);
    }, [key]);
    return answer;
}

/**
 * Returns the series of a window in at most `columns` columns. A changed `age` repeats the request, for runs that still
 * grow.
 */
export function useWindow(
    source: RunData | null,
    view: View,
    columns: number,
    series: readonly string[],
    age = 0,
): Answer<WindowData> {
    const ready = source !== null && columns > 0;
    const { from, to } = view;
    const about = ready ? `${identity(source)} ${from} ${to} ${columns} ${series.join("\n")}` : "";
    useEffect(() => (ready ? source.watch?.(from, to, columns, [...series]) : undefined), [about]);
    const loadedWindow = useMemo(() => {
        const response = ready ? source.atHand?.(from, to, columns, [...series]) : null;
        return response ? windowData(response) : null;
    }, [about, age]);
    const asks = ready && !loadedWindow;
    const answer = useNewest(
        asks ? async () => windowData(await source.window(from, to, columns, [...series])) : null,
        asks ? `${age} ${about}` : "",
    );
    const last = useRef<WindowData | null>(null);
    last.current = ready ? (loadedWindow ?? answer.data ?? last.current) : null;
    return loadedWindow ? { data: loadedWindow, isWaiting: false, problem: "" } : { ...answer, data: last.current };
}

const identities = new WeakMap<object, number>();
let count = 0;

/** Returns a number that identifies a source. */
export function identity(source: object): number {
    const number = identities.get(source);
    if (number !== undefined) return number;
    identities.set(source, ++count);
    return count;
}
