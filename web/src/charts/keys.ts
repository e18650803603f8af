/** Keyboard control of the diagrams: zoom, move, cursors. */

import { useEffect, useRef } from "preact/hooks";
import { keyView } from "./gestures";
import { firstAt, type Series } from "./series";
import { limit, sameView, type View, viewBetween } from "./view";

interface Keys {
    view: View;
    whole: View;
    onView: (view: View) => void;
    onRange: (range: View | null) => void;
    onCursor: (time: number) => void;
    cursor: number | null;
    anchor: number | null;
    setAnchor: (anchor: number | null) => void;
    range: View | null;
    times: Series[];
    tell: (time: number) => void;
}

/** Makes every pointer action available by keyboard. `listens` is the element that receives the keys. */
export function useKeys(
    listens: { current: HTMLElement | null },
    stack: { current: HTMLElement | null },
    doing: Keys,
): void {
    const now = useRef(doing);
    now.current = doing;
    useEffect(() => {
        const element = listens.current;
        if (!element) return;
        const onKey = (event: KeyboardEvent) => {
            const target = event.target as HTMLElement;
            if (target.closest("input, select, textarea") || event.defaultPrevented) return;
            const { view, whole, onView, onRange, cursor, anchor, setAnchor, range, times } = now.current;
            const inside =
                target === stack.current || (target.closest(".stack") !== null && target.closest("button") === null);
            const next = keyView(event, view, whole, cursor, inside);
            if (next) {
                event.preventDefault();
                now.current = { ...now.current, view: next };
                if (!sameView(next, view)) onView(next);
                return;
            }
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            switch (event.key) {
                case "m":
                case "M": {
                    if (cursor === null) now.current.onCursor((view.from + view.to) / 2);
                    if (anchor === null) setAnchor(Math.round(cursor ?? (view.from + view.to) / 2));
                    else {
                        setAnchor(null);
                        if (cursor !== null) onRange(viewBetween(anchor, cursor));
                    }
                    break;
                }
                case "z":
                case "Z":
                    if (range) onView(limit(range, whole));
                    break;
                case "Escape":
                    setAnchor(null);
                    if (range) onRange(null);
                    break;
                case ",":
                case ".": {
                    const from = cursor ?? (view.from + view.to) / 2;
                    const nextTime = neighbour(times, from, event.key === "." ? 1 : -1, view);
                    now.current.onCursor(nextTime);
                    now.current.tell(nextTime);
                    break;
                }
                default:
                    return;
            }
            event.preventDefault();
        };
        element.addEventListener("keydown", onKey);
        return () => element.removeEventListener("keydown", onKey);
    }, [listens, stack]);
}

/** Returns the time of the next sample of any series after (1) or before (-1) a time, at least a pixel away. */
function neighbour(series: Series[], time: number, way: 1 | -1, view: View): number {
    const least = (view.to - view.from) / 1000;
    let nearestTime = way === 1 ? view.to : view.from;
    for (const { time: times } of series) {
        const row = way === 1 ? firstAt(times, time + least) : firstAt(times, time - least) - 1;
        const at = times[row];
        if (at === undefined || at < view.from || at > view.to) continue;
        if (way === 1 ? at < nearestTime : at > nearestTime) nearestTime = at;
    }
    return nearestTime;
}
