/** A table of any number of rows, of which only those in sight are in the page. Keyboard and roles are those of an ARIA grid. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useNarrow } from "../ui/narrow";

export interface GridColumn {
    name: string;
    title: string;
    unit?: string;
    /** Of the metric or field, on hovering its head. */
    about?: string;
    number: boolean;
    width: number;
}

export interface GridProps {
    label: string;
    columns: readonly GridColumn[];
    count: number;
    /** Identity of what is shown: when it changes, the table begins at its top. */
    version: string;
    cell: (row: number, column: number) => ComponentChildren;
    /** The look of a cell, as classes. */
    look?: (row: number, column: number) => string;
    /** What Enter and a click on a row do. */
    open?: (row: number) => void;
    sort: readonly { field: string; descending: boolean }[];
    /** Sorts by a column; `adds` keeps what the table was sorted by before. */
    onSort: (name: string, adds: boolean) => void;
    /** A card has so many columns in its head line. */
    heads: number;
    empty: string;
}

const ROW = 30;
const OVER = 4;
const LINE = 21;
const PADDING = 22;

/** Browsers do not scroll further than some ten million pixels: longer tables jump over rows, and keys go one by one. */
const LONGEST = 8_000_000;

export function Grid(props: GridProps) {
    const { columns, count, version, open } = props;
    const narrow = useNarrow();
    const outer = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const [high, setHigh] = useState(600);
    const [active, setActive] = useState<[number, number]>([0, 0]);
    const [focused, setFocused] = useState(false);
    const cards = narrow;
    const lines = Math.max(0, columns.length - props.heads);
    const each = cards ? PADDING + LINE * (1 + lines) : ROW;
    const head = cards ? 0 : 48;
    const full = count * each;
    const total = Math.min(full, LONGEST);
    const scale = full > total ? (full - high) / Math.max(1, total - high) : 1;
    const offset = Math.max(0, Math.min(top * scale, full - (high - head)));
    const first = Math.max(0, Math.floor(offset / each) - OVER);
    const last = Math.min(count, Math.ceil((offset + high) / each) + OVER);
    const row = Math.min(active[0], Math.max(count - 1, -1));
    const column = Math.min(active[1], columns.length - 1);

    useLayoutEffect(() => {
        const element = outer.current;
        if (!element) return;
        const measure = () => setHigh(element.clientHeight);
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        measure();
        return () => observer.disconnect();
    }, []);
    useLayoutEffect(() => {
        outer.current?.scrollTo({ top: 0 });
        setTop(0);
        setActive(([, at]) => [0, at]);
    }, [version]);
    useLayoutEffect(() => {
        if (focused) outer.current?.querySelector<HTMLElement>("[data-active]")?.focus({ preventScroll: true });
    }, [row, column, focused, first, last]);

    const go = (to: number, at: number) => {
        const element = outer.current;
        const next = Math.max(-1, Math.min(count - 1, to));
        const side = Math.max(0, Math.min(columns.length - 1, at));
        setActive([next, side]);
        setFocused(true);
        if (!element) return;
        if (next >= 0) {
            const start = next * each;
            const room = high - head;
            if (start < offset) element.scrollTop = start / scale;
            else if (start + each > offset + room) element.scrollTop = (start + each - room) / scale;
        }
        if (!cards) {
            const left = columns.slice(0, side).reduce((sum, one) => sum + one.width, 0);
            const width = columns[side]?.width ?? 0;
            if (left < element.scrollLeft) element.scrollLeft = left;
            else if (left + width > element.scrollLeft + element.clientWidth)
                element.scrollLeft = left + width - element.clientWidth;
        }
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const page = Math.max(1, Math.floor((high - head) / each) - 1);
        const moves: Record<string, [number, number]> = {
            ArrowDown: [row + 1, column],
            ArrowUp: [Math.max(cards ? 0 : -1, row - 1), column],
            ArrowRight: [row, column + 1],
            ArrowLeft: [row, column - 1],
            Home: event.ctrlKey ? [0, 0] : [row, 0],
            End: event.ctrlKey ? [count - 1, columns.length - 1] : [row, columns.length - 1],
            PageDown: [row + page, column],
            PageUp: [Math.max(0, row - page), column],
        };
        const move = moves[event.key];
        if (move) go(...move);
        else if (event.key === "Enter" || event.key === " ") {
            const name = columns[column]?.name;
            if (row >= 0 && event.key === "Enter") open?.(row);
            else if (row < 0 && name) props.onSort(name, event.shiftKey);
            else return;
        } else return;
        event.preventDefault();
    };
    const tabIndex = (at: number, of: number) =>
        (at === row && of === column) || (count === 0 && at === -1 && of === 0) ? 0 : -1;
    const attributes = (at: number, of: number) => {
        const is = at === row && of === column;
        return {
            "data-active": is ? "" : undefined,
            "aria-colindex": of + 1,
            onFocus: () => {
                setActive([at, of]);
                setFocused(true);
            },
        };
    };
    const width = columns.reduce((sum, one) => sum + one.width, 0);
    const shown = [];
    for (let index = first; index < last; index++) shown.push(index);
    // the row with the focus stays in the page while it is out of sight
    if (focused && row >= 0 && row < count && (row < first || row >= last)) shown.push(row);
    const place = (index: number) => head + index * each - offset + top;
    return (
        <>
            {count === 0 && <p class="grid-empty quiet">{props.empty}</p>}
            {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot be virtual */}
            <div
                class={cards ? "grid cards" : "grid"}
                role="grid"
                aria-label={props.label}
                aria-rowcount={count + 1}
                aria-colcount={columns.length}
                ref={outer}
                onScroll={(event) => setTop(event.currentTarget.scrollTop)}
                onKeyDown={onKeyDown}
                onBlur={(event) => {
                    if (!event.currentTarget.contains(event.relatedTarget as Node | null) && event.relatedTarget)
                        setFocused(false);
                }}
                tabIndex={-1}
            >
                <div
                    class="grid-size"
                    role="presentation"
                    style={{ height: `${total + head}px`, width: cards ? "100%" : `${width}px` }}
                >
                    {/* biome-ignore lint/a11y/useSemanticElements: a row of the grid */}
                    {/* biome-ignore lint/a11y/useFocusableInteractive: its cells have the focus */}
                    <div class="grid-head" role="row" aria-rowindex={1}>
                        {columns.map((one, of) => {
                            const place = props.sort.findIndex(({ field }) => field === one.name);
                            const key = props.sort[place];
                            return (
                                // biome-ignore lint/a11y/useSemanticElements: a head of the grid
                                // biome-ignore lint/a11y/useKeyWithClickEvents: Enter of the grid does the same
                                <div
                                    key={one.name}
                                    role="columnheader"
                                    class={one.number ? "grid-cell number" : "grid-cell"}
                                    aria-sort={place !== 0 ? "none" : key?.descending ? "descending" : "ascending"}
                                    title={one.about}
                                    style={cards ? undefined : { width: `${one.width}px` }}
                                    onClick={(event) => props.onSort(one.name, event.shiftKey)}
                                    tabIndex={tabIndex(-1, of)}
                                    {...attributes(-1, of)}
                                >
                                    <span class="grid-title">
                                        {one.title}
                                        {key && (
                                            <span class="grid-arrow" aria-hidden="true">
                                                {key.descending ? "▼" : "▲"}
                                                {props.sort.length > 1 && place + 1}
                                            </span>
                                        )}
                                    </span>
                                    {one.unit && <span class="quiet">{one.unit}</span>}
                                </div>
                            );
                        })}
                    </div>
                    {shown.map((index) => (
                        // biome-ignore lint/a11y/useSemanticElements: a row of the grid
                        // biome-ignore lint/a11y/useFocusableInteractive: its cells have the focus
                        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter of the grid does the same
                        <div
                            key={index}
                            class={index === row && focused ? "grid-row active" : "grid-row"}
                            role="row"
                            aria-rowindex={index + 2}
                            style={{ transform: `translateY(${place(index)}px)`, height: `${each}px` }}
                            onClick={(event) => {
                                if (!(event.target as HTMLElement).closest("a") && !getSelection()?.toString())
                                    open?.(index);
                            }}
                        >
                            {columns.map((one, of) => (
                                // biome-ignore lint/a11y/useSemanticElements: a cell of the grid
                                <div
                                    key={one.name}
                                    role="gridcell"
                                    class={`grid-cell ${one.number ? "number " : ""}${cards && of < props.heads ? "headline " : ""}${props.look?.(index, of) ?? ""}`}
                                    style={cards ? undefined : { width: `${one.width}px` }}
                                    tabIndex={tabIndex(index, of)}
                                    {...attributes(index, of)}
                                >
                                    {cards && of >= props.heads && (
                                        <span class="quiet">{one.unit ? `${one.title}, ${one.unit}` : one.title}</span>
                                    )}
                                    <span class="grid-text">{props.cell(index, of)}</span>
                                </div>
                            ))}
                        </div>
                    ))}
                </div>
            </div>
        </>
    );
}
