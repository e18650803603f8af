/** Diagrams below each other over the same time: panels of a run, its events and modes, one cursor through all of them. */

import "./charts.css";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunData } from "../data/source";
import { freeLook, onGround } from "../ui/looks";
import { type Inks, useInks } from "../ui/theme";
import { Canvas, useWidth } from "./canvas";
import { clipped, drawSeries, drawTimeAxis, EVENT_LOOKS, type Stroke } from "./draw";
import { type Drag, keyView, useGestures } from "./gestures";
import { EventTicks, type Lane, type Line, Panel, rangeText, States } from "./panel";
import { addedName, addedTitle, flowOf, type Known, keyOf, ownerText, panelsOf } from "./panels";
import { aggregate, countEvents, firstAt, type Series, shifted, valueAt, type WindowData } from "./series";
import { exactTime, spanText, timeIn, valueText } from "./ticks";
import { limited, moved, plotOf, sameView, timeAt, type View, xOf, zoomed } from "./view";
import { useWindow } from "./windows";

/** What a diagram in the stack is told. */
export interface InStack {
    width: number;
    cursor: number | null;
    data: WindowData | null;
    inks: Inks;
}

export interface OtherRun {
    source: RunData;
    known: Known[];
    title: string;
    /** How much later it is drawn. */
    shift_ns: number;
}

/** How the lines of a flow are drawn. */
export interface FlowLook {
    color: string;
    dashes: number[];
    marker: string;
}

/** A time that moves; whoever draws it listens. */
export interface Moment {
    at_ns: number;
    /** Calls `heard` when it has moved, until the function that this returns is called. */
    listen(heard: () => void): () => void;
}

export interface TimelineProps {
    source: RunData;
    known: Known[];
    /** Owner of the series of the link whose queue is shown; null: those of all links. */
    bottleneck: string | null;
    whole: View;
    view: View;
    onView: (view: View) => void;
    flows: number[];
    flowTitle: (flow: number) => string;
    /** Where flows have looks of their own. */
    flowLook?: ((flow: number) => FlowLook) | undefined;
    other?: OtherRun | null;
    /** Names of series that are shown besides the usual ones. */
    added?: string[];
    onAdded?: (added: string[]) => void;
    hidden?: string[];
    onHidden?: (hidden: string[]) => void;
    /** Kinds of events that are lines through all panels. */
    lines?: string[];
    onLines?: (lines: string[]) => void;
    range?: View | null;
    onRange?: (range: View | null) => void;
    /** What is pointed at from outside, with what it is called. */
    highlight?: View | null;
    /** A moment that is shown elsewhere, and moves. */
    moment?: Moment;
    /** Keys are listened for here; else in the stack. */
    keys?: { current: HTMLElement | null };
    /** Grows when there is more to ask for. */
    age?: number;
    /** Where several runs come from one source: which of them this is. */
    run?: number;
    /** `owner/name` of series that are asked for besides those of the panels, for `more`. */
    also?: string[];
    /** More diagrams over the same time. */
    more?: (stack: InStack) => ComponentChildren;
}

const MARKERS = ["o", "s", "^", "D", "v", "x"];
/** Asked for every few pixels of a screen this wide at most. */
const MOST_COLUMNS = 2000;
const ROWS = 50;

/** Lines of one flow in one panel differ by their dashes where colours tell flows apart. */
const VARIANTS = [[], [2, 2], [8, 2, 2, 2], [1, 3]];

/** Returns how a line is drawn whose flow has a look of its own. `variant` tells its lines apart where several flows are drawn. */
function ownStroke(look: FlowLook, variant: number, name: string, dark: boolean): Stroke {
    if (variant === 0) return { ...look, width: 1.5 };
    if (name === "capacity" || name === "bdp") return strokeOf(0, 0, false, dark, name);
    return { color: look.color, dashes: VARIANTS[variant % VARIANTS.length]!, marker: look.marker, width: 1 };
}

/** Returns how a line is drawn. `tone` is the number of its colour, `variant` tells lines of one colour apart. */
function strokeOf(tone: number, variant: number, other: boolean, dark: boolean, name: string): Stroke {
    if (name === "capacity" || name === "bdp")
        return { color: dark ? "#7d8694" : "#8d96a3", dashes: other ? [5, 4] : [], marker: "", width: 1 };
    const look = freeLook(tone);
    return {
        color: onGround(look.color, dark),
        dashes: other ? [5, 4] : variant > 0 ? VARIANTS[variant % VARIANTS.length]! : look.dashes,
        marker: other ? "" : MARKERS[(tone + 2 * variant) % MARKERS.length]!,
        width: other ? 1.2 : 1.4,
    };
}

export function Timeline(props: TimelineProps) {
    const { source, known, whole, view, onView, flows, other = null, range = null, age = 0 } = props;
    const { added = [], hidden = [], lines = [], highlight = null, moment } = props;
    const inks = useInks();
    const root = useRef<HTMLElement>(null);
    const [stack, width] = useWidth<HTMLElement>();
    const [cursor, setCursor] = useState<number | null>(null);
    const [told, setTold] = useState("");
    const [brush, setBrush] = useState<View | null>(null);
    const [drag, setDrag] = useState<Drag>("zoom");
    const [anchor, setAnchor] = useState<number | null>(null);
    const [table, setTable] = useState(false);
    const shownFlows = useMemo(() => new Set(flows), [flows.join()]);
    const ownKeys = useMemo(() => new Set(known.map(keyOf)), [known]);
    const otherKeys = useMemo(() => new Set(other?.known.map(keyOf)), [other?.known]);
    const chosen = useMemo(() => {
        // What only the run laid over has is shown too.
        const all = [...known, ...(other?.known ?? []).filter((each) => !ownKeys.has(keyOf(each)))];
        return panelsOf(all, props.bottleneck, shownFlows, added);
    }, [known, other?.known, props.bottleneck, shownFlows, added.join()]);
    const panels = chosen.panels.filter(({ id }) => !hidden.includes(id));
    const wanted = [
        ...new Set([...panels.flatMap(({ keys }) => keys), ...chosen.states.map(keyOf), ...(props.also ?? [])]),
    ];
    const plot = plotOf(width);
    const columns = Math.max(0, Math.min(MOST_COLUMNS, Math.round(plot.right - plot.left)));
    const own = wanted.filter((key) => ownKeys.has(key));
    const answer = useWindow(source, view, columns, own, age);
    const shift = other?.shift_ns ?? 0;
    const otherView = { from: Math.max(0, view.from - shift), to: Math.max(1, view.to - shift) };
    const otherAnswer = useWindow(
        other?.source ?? null,
        otherView,
        columns,
        wanted.filter((key) => otherKeys.has(key)),
    );
    const { data } = answer;
    const otherData = useMemo(
        () => (other && otherAnswer.data ? shifted(otherAnswer.data, shift) : null),
        [other, otherAnswer.data, shift],
    );
    const onRange = props.onRange ?? (() => {});

    const doing = { view, whole, drag, onView, onBrush: setBrush, onRange, onCursor: setCursor };
    useGestures(stack, doing);
    useKeys(props.keys ?? root, stack, {
        ...doing,
        cursor,
        anchor,
        setAnchor,
        range,
        times: data ? [...data.series.values()] : [],
        tell: (time) => setTold(`${timeIn(time, view.to - view.from)}: ${readOut(time)}`),
    });
    const live = anchor !== null && cursor !== null ? ordered(anchor, cursor) : range;

    const several = flows.length > 1;
    const strokeIn = (series: Series, index: number, names: string[], isOther: boolean): Stroke => {
        const flow = flowOf(series.owner);
        const look = isOther ? undefined : props.flowLook;
        const variant = names.indexOf(series.name);
        if (look && flow === null) return { color: inks.ink, dashes: [], marker: "", width: 1.4 };
        if (look && flow !== null && (several || variant === 0))
            return ownStroke(look(flow), variant, series.name, inks.dark);
        return several && flow !== null
            ? strokeOf(flows.indexOf(flow), variant, isOther, inks.dark, series.name)
            : strokeOf(index, 0, isOther, inks.dark, series.name);
    };
    const linesOf = (keys: string[]): Line[] => {
        const names = [...new Set(keys.map((key) => key.slice(key.lastIndexOf("/") + 1)))];
        const found: Line[] = [];
        for (const [index, key] of keys.entries()) {
            for (const [from, isOther] of [
                [data, false],
                [otherData, true],
            ] as const) {
                const series = from?.series.get(key);
                if (!series) continue;
                const flow = flowOf(series.owner);
                const owner = flow === null ? ownerText(series.owner) : several ? props.flowTitle(flow) : "";
                const name = names.length > 1 || !several || flow === null ? series.title : "";
                found.push({
                    series,
                    stroke: strokeIn(series, index, names, isOther),
                    title: [owner, name].filter(Boolean).join(" ") + (isOther && other ? ` (${other.title})` : ""),
                    other: isOther,
                });
            }
        }
        return found;
    };
    const drawn = panels.map((panel) => ({ ...panel, lines: linesOf(panel.keys) }));
    function readOut(time: number): string {
        return drawn
            .flatMap((panel) =>
                panel.lines.map((line) => `${line.title} ${rangeText(valueAt(line.series, time))} ${panel.unit}`),
            )
            .join("; ");
    }
    const lanes: Lane[] = [data, otherData].flatMap((from, index) =>
        chosen.states.flatMap((each) => {
            const series = from?.series.get(keyOf(each));
            if (!series?.states || series.time.length === 0) return [];
            // Flags of many flows would hide the modes.
            if (flows.length > 2 && isFlag(series)) return [];
            const flow = flowOf(each.owner);
            const owner = several && flow !== null ? props.flowTitle(flow) : "";
            const run = index === 1 && other ? `(${other.title})` : "";
            const short = [run && "*", several && flow !== null ? `${flow}:` : "", each.title]
                .filter(Boolean)
                .join(" ");
            return [{ series, short, title: [owner, each.title, run].filter(Boolean).join(" "), other: index === 1 }];
        }),
    );
    const counts = useMemo(
        () => (data ? countEvents(data.events, view, shownFlows) : new Map<string, number>()),
        [data, view.from, view.to, shownFlows],
    );
    const kinds = useKinds(data, props.run ?? 0);
    const behind = { events: data?.events ?? null, kinds: lines, flows: shownFlows };
    const of = [data, otherData, lines.join(), flows.join(), props.flowLook];
    const height = width < 560 ? 104 : 118;
    const span = view.to - view.from;

    return (
        <section class="timeline" ref={root} aria-label="Diagrams over time">
            <Tools
                {...doing}
                setDrag={setDrag}
                anchor={anchor}
                measure={() => setAnchor(anchor === null ? (cursor ?? (view.from + view.to) / 2) : null)}
                chosen={chosen}
                added={added}
                hidden={hidden}
                onAdded={props.onAdded}
                onHidden={props.onHidden}
                table={table}
                setTable={setTable}
            />
            <p class="hidden" role="status">
                {told}
            </p>
            {answer.problem && (
                <p class="bad" role="alert">
                    {answer.problem}
                </p>
            )}
            <section
                class={`stack drag-${drag}`}
                ref={stack}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse moves the window with keys from here
                tabIndex={0}
                aria-label="Diagrams"
                aria-describedby="keys"
                aria-busy={answer.waiting}
            >
                <div class="ruler">
                    <Overview
                        source={source}
                        known={known}
                        flows={flows}
                        whole={whole}
                        view={view}
                        onView={onView}
                        width={width}
                        inks={inks}
                        age={age}
                        flowLook={props.flowLook}
                    />
                    <Canvas
                        width={width}
                        height={20}
                        label={`Time from ${exactTime(view.from)} to ${exactTime(view.to)}, ${spanText(span)}`}
                        of={[view.from, view.to, inks]}
                        draw={(context, wide, high) => drawTimeAxis(context, wide, high, view, inks)}
                    />
                    {cursor !== null && (
                        <output class="clock" style={{ left: `${place(xOf(cursor, view, plot), width)}px` }}>
                            {exactTime(cursor, 9)}
                        </output>
                    )}
                </div>
                {kinds.length > 0 && (
                    <EventTicks
                        {...{ behind, kinds, counts, view, width, inks, cursor, lines, of }}
                        onLines={props.onLines ?? (() => {})}
                    />
                )}
                {lanes.length > 0 && (
                    <States
                        {...{ lanes, view, width, inks, cursor, of }}
                        colors={(state) => onGround(freeLook(Math.abs(Math.round(state))).color, inks.dark)}
                    />
                )}
                {drawn.map(({ id, title, unit, lines: all }) => (
                    <Panel
                        key={id}
                        {...{ title, unit, view, width, height, inks, cursor, behind }}
                        lines={all}
                        of={of}
                        onClose={props.onHidden && (() => props.onHidden!([...hidden, id]))}
                    />
                ))}
                {props.more?.({ width, cursor, data, inks })}
                <Overlay class="highlight" part={highlight} view={view} width={width} />
                {moment && <MomentLine moment={moment} view={view} width={width} />}
                <Overlay class="range" part={live} view={view} width={width} />
                <Overlay class="brush" part={brush} view={view} width={width} />
                {[cursor, anchor].map(
                    (time, index) =>
                        time !== null &&
                        time >= view.from &&
                        time <= view.to && (
                            <div
                                key={index === 0 ? "cursor" : "anchor"}
                                class={index === 0 ? "cursor" : "cursor second"}
                                style={{ left: `${xOf(time, view, plot)}px` }}
                            />
                        ),
                )}
                {data === null && !answer.problem && (
                    <p class="quiet" role="status">
                        Reading the series…
                    </p>
                )}
            </section>
            {live && (
                <Range
                    source={source}
                    part={live}
                    settled={anchor === null}
                    keys={panels.flatMap(({ keys }) => keys).filter((key) => ownKeys.has(key))}
                    titles={
                        new Map(
                            drawn.flatMap(({ lines: all, unit }) =>
                                all
                                    .filter((line) => !line.other)
                                    .map((line) => [line.series.key, `${line.title}${unit ? `, ${unit}` : ""}`]),
                            ),
                        )
                    }
                    flows={shownFlows}
                    onZoom={() => onView(limited(live, whole))}
                    onClear={() => {
                        setAnchor(null);
                        onRange(null);
                    }}
                />
            )}
            {table && data && (
                <Values
                    view={view}
                    lines={[
                        ...drawn.flatMap(({ lines: all, unit }) =>
                            all.map(({ series, title }) => ({ series, title, unit })),
                        ),
                        ...lanes.map(({ series, title }) => ({ series, title, unit: "" })),
                    ]}
                />
            )}
        </section>
    );
}

function ordered(one: number, other: number): View {
    return { from: Math.round(Math.min(one, other)), to: Math.round(Math.max(one, other)) };
}

/** Keeps what stands at a place of the stack from leaving it. */
function place(x: number, width: number): number {
    return Math.max(62, Math.min(x, width - 62));
}

/** Returns the kinds of events that were seen so far: rows stay where they are while windows come and go. */
function useKinds(data: WindowData | null, run: number): string[] {
    const seen = useRef(new Set<string>());
    const of = useRef(run);
    return useMemo(() => {
        if (of.current !== run) seen.current.clear();
        of.current = run;
        if (data) for (let row = 0; row < data.events.time.length; row++) seen.current.add(data.events.kind(row));
        return Object.keys(EVENT_LOOKS).filter((kind) => seen.current.has(kind));
    }, [data, run]);
}

/** Whether the states of a series are yes and no. */
function isFlag({ states }: Series): boolean {
    return states?.size === 2 && states.get(0) === "no";
}

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

function useKeys(listens: { current: HTMLElement | null }, stack: { current: HTMLElement | null }, doing: Keys): void {
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
                        if (cursor !== null) onRange(ordered(anchor, cursor));
                    }
                    break;
                }
                case "z":
                case "Z":
                    if (range) onView(limited(range, whole));
                    break;
                case "Escape":
                    setAnchor(null);
                    if (range) onRange(null);
                    break;
                case ",":
                case ".": {
                    const from = cursor ?? (view.from + view.to) / 2;
                    const found = neighbour(times, from, event.key === "." ? 1 : -1, view);
                    now.current.onCursor(found);
                    now.current.tell(found);
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
function neighbour(all: Series[], time: number, way: 1 | -1, view: View): number {
    const least = (view.to - view.from) / 1000;
    let found = way === 1 ? view.to : view.from;
    for (const { time: times } of all) {
        const row = way === 1 ? firstAt(times, time + least) : firstAt(times, time - least) - 1;
        const at = times[row];
        if (at === undefined || at < view.from || at > view.to) continue;
        if (way === 1 ? at < found : at > found) found = at;
    }
    return found;
}

function Overlay({ part, view, width, ...others }: { part: View | null; view: View; width: number; class: string }) {
    if (!part || part.to < view.from || part.from > view.to) return null;
    const plot = plotOf(width);
    const left = Math.max(plot.left, xOf(part.from, view, plot));
    const right = Math.min(plot.right, xOf(part.to, view, plot));
    return (
        <div class={`overlay ${others.class}`} style={{ left: `${left}px`, width: `${Math.max(2, right - left)}px` }} />
    );
}

function MomentLine({ moment, view, width }: { moment: Moment; view: View; width: number }) {
    const [at_ns, setAt] = useState(moment.at_ns);
    useEffect(() => moment.listen(() => setAt(moment.at_ns)), [moment]);
    if (at_ns < view.from || at_ns > view.to) return null;
    return <div class="moment" style={{ left: `${xOf(at_ns, view, plotOf(width))}px` }} />;
}

interface ToolsProps {
    view: View;
    whole: View;
    onView: (view: View) => void;
    drag: Drag;
    setDrag: (drag: Drag) => void;
    anchor: number | null;
    measure: () => void;
    chosen: ReturnType<typeof panelsOf>;
    added: string[];
    hidden: string[];
    onAdded: ((added: string[]) => void) | undefined;
    onHidden: ((hidden: string[]) => void) | undefined;
    table: boolean;
    setTable: (table: boolean) => void;
}

const DRAGS: [Drag, string, string][] = [
    ["zoom", "zooms", "dragging over a diagram zooms to that part (fingers move; two fingers zoom)"],
    ["measure", "measures", "dragging selects a part and shows what happens in it (also with Shift)"],
    ["move", "moves", "dragging moves the window (also with Alt)"],
];

function Tools(props: ToolsProps) {
    const { view, whole, onView, chosen, added, hidden, onAdded, onHidden } = props;
    const span = view.to - view.from;
    const names = new Map<string, string>();
    for (const each of chosen.others)
        if (!added.includes(addedName(each)))
            names.set(addedName(each), `${addedTitle(each)}${each.unit ? ` (${each.unit})` : ""}`);
    const closed = chosen.panels.filter(({ id }) => hidden.includes(id));
    return (
        <div class="tools row">
            <fieldset class="group" aria-label="Zoom">
                <button
                    type="button"
                    title="zoom in (W or +)"
                    aria-label="zoom in"
                    onClick={() => onView(zoomed(view, whole, 0.5))}
                >
                    +
                </button>
                <button
                    type="button"
                    title="zoom out (S or -)"
                    aria-label="zoom out"
                    onClick={() => onView(zoomed(view, whole, 2))}
                >
                    −
                </button>
                <button
                    type="button"
                    title="earlier (A)"
                    aria-label="earlier"
                    onClick={() => onView(moved(view, whole, -0.5))}
                >
                    ‹
                </button>
                <button
                    type="button"
                    title="later (D)"
                    aria-label="later"
                    onClick={() => onView(moved(view, whole, 0.5))}
                >
                    ›
                </button>
                <button type="button" title="the whole run (0 or Home)" onClick={() => onView(whole)}>
                    all
                </button>
            </fieldset>
            <span class="where">
                <b>{timeIn(view.from, span)}</b> to <b>{timeIn(view.to, span)}</b>{" "}
                <span class="quiet">({spanText(span)})</span>
            </span>
            <label>
                a drag{" "}
                <select
                    value={props.drag}
                    title={DRAGS.find(([each]) => each === props.drag)![2]}
                    onChange={(event) => props.setDrag(event.currentTarget.value as Drag)}
                >
                    {DRAGS.map(([value, name]) => (
                        <option key={value} value={value}>
                            {name}
                        </option>
                    ))}
                </select>
            </label>
            <button
                type="button"
                aria-pressed={props.anchor !== null}
                title="set a second cursor (M)"
                onClick={props.measure}
            >
                second cursor
            </button>
            {onAdded && names.size > 0 && (
                <label>
                    <span class="hidden">More series</span>
                    <select
                        value=""
                        onChange={(event) => {
                            const name = event.currentTarget.value;
                            event.currentTarget.value = "";
                            if (name) onAdded([...added, name]);
                        }}
                    >
                        <option value="">more series…</option>
                        {[...names].map(([name, title]) => (
                            <option key={name} value={name}>
                                {title}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            {onHidden && closed.length > 0 && (
                <label>
                    <span class="hidden">Hidden panels</span>
                    <select
                        value=""
                        onChange={(event) => onHidden(hidden.filter((id) => id !== event.currentTarget.value))}
                    >
                        <option value="">hidden panels…</option>
                        {closed.map(({ id, title }) => (
                            <option key={id} value={id}>
                                {title}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <button type="button" aria-pressed={props.table} onClick={() => props.setTable(!props.table)}>
                values as a table
            </button>
            <details class="keys">
                <summary>keys</summary>
                <p id="keys">
                    W and S (or + and −) zoom, A and D (or arrows) move, 0 (or Home) shows all; comma and point move the
                    cursor from sample to sample, M sets a second cursor, Z zooms to what is selected, Escape ends it.
                    In the diagram of packets N and P go to the next and the previous packet, Enter keeps it. The wheel
                    zooms with Ctrl, or over the strip of the whole run; with Shift it moves. Arrows and Home hold where
                    the diagrams have the focus.
                </p>
            </details>
        </div>
    );
}

/** The whole run in one strip, and which part of it is shown. */
function Overview({
    source,
    known,
    flows,
    whole,
    view,
    onView,
    width,
    inks,
    age,
    flowLook,
}: {
    source: RunData;
    known: Known[];
    flows: number[];
    whole: View;
    view: View;
    onView: (view: View) => void;
    width: number;
    inks: Inks;
    age: number;
    flowLook: TimelineProps["flowLook"];
}) {
    const strip = useRef<HTMLDivElement>(null);
    const names = ["throughput", "delivery_rate", "one_way_delay"];
    const name = names.find((each) => known.some((series) => series.name === each));
    const wanted = known.filter((each) => each.name === name && flows.includes(flowOf(each.owner) ?? -1)).map(keyOf);
    const { data } = useWindow(wanted.length > 0 ? source : null, whole, width > 0 ? 500 : 0, wanted, age);
    const shown = wanted.flatMap((key) => data?.series.get(key) ?? []);
    const plot = plotOf(width);
    const now = useRef({ view, onView, width });
    now.current = { view, onView, width };
    useEffect(() => {
        const element = strip.current;
        if (!element) return;
        let held: number | null = null;
        const at = (event: PointerEvent | WheelEvent) => {
            const { left } = element.getBoundingClientRect();
            return timeAt(event.clientX - left, whole, plotOf(now.current.width));
        };
        const go = (time: number) => {
            const half = (now.current.view.to - now.current.view.from) / 2;
            now.current.onView(limited({ from: time - half, to: time + half }, whole));
        };
        const onDown = (event: PointerEvent) => {
            event.stopPropagation();
            const {
                view: { from, to },
            } = now.current;
            const time = at(event);
            held = time >= from && time <= to ? time - (from + to) / 2 : 0;
            element.setPointerCapture(event.pointerId);
            if (held === 0) go(time);
        };
        const onMove = (event: PointerEvent) => {
            if (held === null) return;
            event.stopPropagation();
            go(at(event) - held);
        };
        const onUp = () => {
            held = null;
        };
        const onWheel = (event: WheelEvent) => {
            event.preventDefault();
            event.stopPropagation();
            now.current.onView(zoomed(now.current.view, whole, Math.exp(event.deltaY / 400)));
        };
        element.addEventListener("pointerdown", onDown);
        element.addEventListener("pointermove", onMove);
        element.addEventListener("pointerup", onUp);
        element.addEventListener("pointercancel", onUp);
        element.addEventListener("wheel", onWheel, { passive: false });
        return () => {
            element.removeEventListener("pointerdown", onDown);
            element.removeEventListener("pointermove", onMove);
            element.removeEventListener("pointerup", onUp);
            element.removeEventListener("pointercancel", onUp);
            element.removeEventListener("wheel", onWheel);
        };
    }, [whole.from, whole.to]);
    const left = xOf(view.from, whole, plot);
    const right = xOf(view.to, whole, plot);
    return (
        <div class="overview" ref={strip}>
            <Canvas
                width={width}
                height={34}
                label={`The whole run, ${spanText(whole.to - whole.from)}; shown is the part from ${exactTime(view.from)} to ${exactTime(view.to)}`}
                of={[data, inks, whole.from, whole.to, flowLook]}
                draw={(context) => {
                    context.fillStyle = inks.soft;
                    context.fillRect(plot.left, 0, plot.right - plot.left, 34);
                    let high = 0;
                    for (const series of shown)
                        for (let row = 0; row < series.high.length; row++) high = Math.max(high, series.high[row]!);
                    clipped(context, plot, 0, 34, () => {
                        for (const [index, series] of shown.entries()) {
                            const look = flowLook?.(flowOf(series.owner) ?? 1);
                            const stroke = {
                                ...(look ?? strokeOf(index, 0, false, inks.dark, series.name)),
                                marker: "",
                                width: 1,
                            };
                            drawSeries(
                                context,
                                series,
                                whole,
                                plot,
                                { low: 0, high: high * 1.05 || 1, top: 2, bottom: 32 },
                                stroke,
                            );
                        }
                    });
                }}
            />
            <div class="shown" style={{ left: `${left}px`, width: `${Math.max(3, right - left)}px` }} />
        </div>
    );
}

/** What happens between two times, of every line: asked for anew, so that it is as exact as can be. */
function Range({
    source,
    part,
    settled,
    keys,
    titles,
    flows,
    onZoom,
    onClear,
}: {
    source: RunData;
    part: View;
    settled: boolean;
    keys: string[];
    titles: ReadonlyMap<string, string>;
    flows: ReadonlySet<number>;
    onZoom: () => void;
    onClear: () => void;
}) {
    const { data } = useWindow(part.to > part.from ? source : null, part, 4000, keys);
    const counts = data ? [...countEvents(data.events, part, flows)] : [];
    return (
        <section class="range-facts" aria-label="Selected part">
            <p class="row">
                <b>{spanText(part.to - part.from)}</b> from {exactTime(part.from)} to {exactTime(part.to)}
                {counts.map(([kind, count]) => (
                    <span key={kind}>
                        {EVENT_LOOKS[kind]?.title ?? kind}: {data?.events.thinned ? "at least " : ""}
                        {count}
                    </span>
                ))}
                {settled && (
                    <button type="button" onClick={onZoom}>
                        zoom to it (Z)
                    </button>
                )}
                <button type="button" onClick={onClear}>
                    clear (Esc)
                </button>
            </p>
            {data && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
                <section class="scroll" tabIndex={0} aria-label="Values of the selected part">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">series</th>
                                {[
                                    "at the start",
                                    "at the end",
                                    "difference",
                                    "lowest",
                                    "mean",
                                    "highest",
                                    "values",
                                ].map((each) => (
                                    <th scope="col" class="number" key={each}>
                                        {each}
                                    </th>
                                ))}
                            </tr>
                        </thead>
                        <tbody>
                            {keys.flatMap((key) => {
                                const series = data.series.get(key);
                                if (!series) return [];
                                const start = valueAt(series, part.from);
                                const end = valueAt(series, part.to) ?? valueAt(series, part.to - 1);
                                const { rows, min, max, mean } = aggregate(series, part);
                                const single = start && end && start.low === start.high && end.low === end.high;
                                return [
                                    <tr key={key}>
                                        <th scope="row">{titles.get(key) ?? key}</th>
                                        <td class="number">{rangeText(start)}</td>
                                        <td class="number">{rangeText(end)}</td>
                                        <td class="number">{single ? valueText(end.low - start.low) : "-"}</td>
                                        <td class="number">{valueText(min)}</td>
                                        <td class="number">{valueText(mean)}</td>
                                        <td class="number">{valueText(max)}</td>
                                        <td class="number">{series.thinned ? `over ${rows}` : rows}</td>
                                    </tr>,
                                ];
                            })}
                        </tbody>
                    </table>
                </section>
            )}
        </section>
    );
}

/** The lines of a window as a table: their samples where these are few, else values at times evenly spaced. */
function Values({ view, lines }: { view: View; lines: { series: Series; title: string; unit: string }[] }) {
    const times = useMemo(() => {
        const all = new Set<number>();
        for (const { series } of lines) {
            for (
                let row = firstAt(series.time, view.from);
                row < series.time.length && series.time[row]! <= view.to;
                row++
            ) {
                all.add(series.time[row]!);
                if (all.size > ROWS) {
                    const step = (view.to - view.from) / (ROWS - 1);
                    return Array.from({ length: ROWS }, (_, row) => Math.round(view.from + row * step));
                }
            }
        }
        return [...all].sort((one, other) => one - other);
    }, [view.from, view.to, lines]);
    const text = (series: Series, time: number) => {
        const value = valueAt(series, time);
        if (value && series.states && value.low === value.high)
            return series.states.get(value.low) ?? valueText(value.low);
        return rangeText(value);
    };
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
        <section class="scroll table" tabIndex={0} aria-label="Values of the window">
            <table>
                <caption class="hidden">Values of the lines in this window</caption>
                <thead>
                    <tr>
                        <th scope="col">time</th>
                        {lines.map(({ series, title, unit }, index) => (
                            <th scope="col" class="number" key={`${series.key} ${index}`}>
                                {title}
                                {unit && `, ${unit}`}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {times.map((time) => (
                        <tr key={time}>
                            <th scope="row">{exactTime(time)}</th>
                            {lines.map(({ series }, index) => (
                                <td class="number" key={`${series.key} ${index}`}>
                                    {text(series, time)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}
