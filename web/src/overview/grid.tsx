/**
 * Table of any number of rows. The page contains only the visible ones. Keyboard and roles follow the ARIA grid
 * pattern.
 */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useNarrow } from "../ui/narrow";
import { linesOf, measureOf } from "../ui/wrap";

export interface GridColumn {
    name: string;
    title: string;
    unit?: string;
    /** Description of the metric or field, shown on hovering the head. */
    about?: string;
    number: boolean;
    width: number;
    /** Strings of a column that breaks lines: all of them, the string of a row, and the indent in px. */
    texts?: { all: readonly string[]; textOf: (row: number) => string; indent: number };
}

export interface GridProps {
    label: string;
    columns: readonly GridColumn[];
    count: number;
    /** Identity of the content. A change scrolls the table to its top. */
    version: string;
    /** Returns the content of a cell. `lines` renders a string of the column's `texts` with its line breaks. */
    cell: (row: number, column: number, lines: (text: string) => ComponentChildren) => ComponentChildren;
    /** Returns the classes of a cell. */
    look?: (row: number, column: number) => string;
    /** Called on Enter or a click on a row. */
    open?: (row: number) => void;
    /** Returns true or false for a row that can unfold others, null for an unfolded row. */
    unfolded?: (row: number) => boolean | null;
    /** Returns the minimum number of lines of a row. */
    high?: (row: number) => number;
    sort: readonly { field: string; descending: boolean }[];
    /** Sorts by a column. `adds` keeps the previous sort keys. */
    onSort: (name: string, adds: boolean) => void;
    /** Number of columns in the head line of a card. */
    heads: number;
    empty: string;
}

const OVER = 4;
const HEAD = 54;
const LINE = 21;
/** Height of a row (and of a card) without its lines, px. */
const PADDING = 9;
const CARD_PADDING = 22;
/** Width of a cell without its text, px. */
const SIDES = 22;
/** Upper bound of the width of a letter, px. Short strings then need no measurement. */
const WIDEST = 15;

/**
 * Maximum height of the table, px. Browsers scroll about ten million pixels at most: longer tables skip rows, and keys
 * move by one row.
 */
const LONGEST = 8_000_000;

export function Grid(props: GridProps) {
    const { columns, count, version, open } = props;
    const narrow = useNarrow();
    const outer = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const [[high, wide], setSize] = useState([600, 600]);
    const [active, setActive] = useState<[number, number]>([0, 0]);
    const [focused, setFocused] = useState(false);
    const cards = narrow;
    const rowHeight = cards ? CARD_PADDING + LINE * columns.length : PADDING + LINE;
    const head = cards ? 0 : HEAD;
    const width = columns.reduce((sum, one) => sum + one.width, 0);
    const { breaks, starts } = useMemo(() => {
        const breaks = columns.map((column) => breaksOf(column, cards ? wide : column.width, outer.current));
        return { breaks, starts: startsOf(props, breaks, cards) };
    }, [version, count, cards, cards ? wide : 0, width, outer.current]);
    const start = (index: number) => (starts ? starts[index]! : index * rowHeight);
    const heightOf = (index: number) => start(index + 1) - start(index);
    const rowAt = (place: number) => (starts ? before(starts, place) : Math.floor(place / rowHeight));
    const full = start(count);
    const total = Math.min(full, LONGEST);
    const scale = full > total ? (full - high) / Math.max(1, total - high) : 1;
    const offset = Math.max(0, Math.min(top * scale, full - (high - head)));
    const first = Math.max(0, rowAt(offset) - OVER);
    const last = Math.min(count, rowAt(offset + high) + 1 + OVER);
    const row = Math.min(active[0], Math.max(count - 1, -1));
    const column = Math.min(active[1], columns.length - 1);

    useLayoutEffect(() => {
        const element = outer.current;
        if (!element) return;
        const measure = () => setSize([element.clientHeight, element.clientWidth]);
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
            const [upper, lower] = [start(next), start(next) + heightOf(next)];
            const room = high - head;
            if (upper < offset) element.scrollTop = upper / scale;
            else if (lower > offset + room) element.scrollTop = (lower - room) / scale;
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
        const page = Math.max(1, Math.floor((high - head) / rowHeight) - 1);
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
    const tabIndex = (at: number, cellColumn: number) =>
        (at === row && cellColumn === column) || (count === 0 && at === -1 && cellColumn === 0) ? 0 : -1;
    const attributes = (at: number, cellColumn: number) => {
        const is = at === row && cellColumn === column;
        return {
            "data-active": is ? "" : undefined,
            "aria-colindex": cellColumn + 1,
            onFocus: () => {
                setActive([at, cellColumn]);
                setFocused(true);
            },
        };
    };
    const visibleIndices = [];
    for (let index = first; index < last; index++) visibleIndices.push(index);
    // The row with the focus stays in the page even if it is not visible.
    if (focused && row >= 0 && row < count && (row < first || row >= last)) visibleIndices.push(row);
    const place = (index: number) => head + start(index) - offset + top;
    const level = (index: number) => {
        const isUnfolded = props.unfolded?.(index);
        if (isUnfolded === undefined) return {};
        return isUnfolded === null ? { "aria-level": 2 } : { "aria-level": 1, "aria-expanded": isUnfolded };
    };
    return (
        <>
            {count === 0 && <p class="grid-empty quiet">{props.empty}</p>}
            {/* biome-ignore lint/a11y/noStaticElementInteractions: it has a role */}
            {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: of a grid */}
            <div
                class={cards ? "grid cards" : "grid"}
                role={props.unfolded ? "treegrid" : "grid"}
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
                    {visibleIndices.map((index) => (
                        // biome-ignore lint/a11y/useSemanticElements: a row of the grid
                        // biome-ignore lint/a11y/useFocusableInteractive: its cells have the focus
                        // biome-ignore lint/a11y/useKeyWithClickEvents: Enter of the grid does the same
                        <div
                            key={index}
                            class={index === row && focused ? "grid-row active" : "grid-row"}
                            role="row"
                            aria-rowindex={index + 2}
                            style={{ transform: `translateY(${place(index)}px)`, height: `${heightOf(index)}px` }}
                            {...level(index)}
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
                                    <span class="grid-text">
                                        {props.cell(index, of, (text) => inLines(breaks[of]?.(text) ?? [text]))}
                                    </span>
                                </div>
                            ))}
                        </div>
                    ))}
                </div>
            </div>
        </>
    );
}

type Breaks = ((text: string) => string[]) | null;

/** Returns a function that breaks the strings of a column into lines, or null for a column without line breaks. */
function breaksOf(column: GridColumn, width: number, element: Element | null): Breaks {
    const { texts } = column;
    if (!texts) return null;
    const room = width - SIDES - texts.indent;
    const measure = element ? measureOf(element) : (text: string) => text.length * (WIDEST / 2);
    const cache = new Map<string, string[]>();
    return (text) => {
        if (text.length * WIDEST <= room) return [text];
        const lines = cache.get(text) ?? linesOf(text, room, measure);
        cache.set(text, lines);
        return lines;
    };
}

/**
 * Returns the start of each row and the end of the last one, px. Returns null if all rows have one line, or cards one
 * line per column.
 */
function startsOf(props: GridProps, breaks: readonly Breaks[], cards: boolean): Float64Array | null {
    const { columns, count, high } = props;
    const brokenColumns = columns.flatMap(({ texts }, index) => {
        const breaksOfColumn = breaks[index];
        const stands = !cards || index < props.heads;
        return texts && breaksOfColumn && stands && texts.all.some((text) => breaksOfColumn(text).length > 1)
            ? [(row: number) => breaksOfColumn(texts.textOf(row)).length]
            : [];
    });
    if (!brokenColumns.length && (cards || !high)) return null;
    const starts = new Float64Array(count + 1);
    for (let row = 0; row < count; row++) {
        const lines = brokenColumns.map((linesIn) => linesIn(row));
        const height = cards
            ? CARD_PADDING + LINE * lines.reduce((sum, each) => sum + each - 1, columns.length)
            : PADDING + LINE * Math.max(high?.(row) ?? 1, ...lines);
        starts[row + 1] = starts[row]! + height;
    }
    return starts;
}

/** Returns the last index whose start is not after `at`. */
function before(starts: Float64Array, at: number): number {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle]! <= at) low = middle;
        else high = middle - 1;
    }
    return low;
}

function inLines(lines: readonly string[]): ComponentChildren {
    if (lines.length < 2) return lines[0] ?? "";
    return lines.map((line, index) => (
        <span key={index} class="grid-line">
            {line}
        </span>
    ));
}
