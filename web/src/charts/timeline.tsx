/** Stack of diagrams over one time axis: panels of a run, its events and modes, and a common cursor. */

import "./charts.css";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunData } from "../data/source";
import { freeLook, onGround } from "../ui/looks";
import { type Inks, useInks } from "../ui/theme";
import { Canvas, useWidth } from "./canvas";
import { drawTimeAxis, EVENT_LOOKS, type Stroke } from "./draw";
import { type Drag, useGestures } from "./gestures";
import { useKeys } from "./keys";
import { Overview } from "./overview";
import { EventTicks, type Lane, type Line, Panel, rangeText, States } from "./panel";
import { flowOf, keyOf, ownerText, panelsOf, type SeriesInfo } from "./panels";
import { countEvents, type Series, shiftData, valueAt, type WindowData } from "./series";
import { type FlowLook, ownStroke, strokeOf } from "./strokes";
import { exactTime, spanText, timeIn } from "./ticks";
import { Tools } from "./tools";
import { Range, Values } from "./values";
import { limit, plotOf, type View, viewBetween, xOf } from "./view";
import { useWindow } from "./windows";

/** Properties that the stack gives to an additional diagram. */
export interface InStack {
    width: number;
    cursor: number | null;
    data: WindowData | null;
    inks: Inks;
}

export interface OtherRun {
    source: RunData;
    seriesList: SeriesInfo[];
    title: string;
    /** Time shift of the overlaid run, ns. */
    shift_ns: number;
}

/** Observable time. */
export interface Moment {
    at_ns: number;
    /** Calls `listener` after each change, until the returned function is called. */
    listen(listener: () => void): () => void;
}

export interface TimelineProps {
    source: RunData;
    seriesList: SeriesInfo[];
    /** Owner of the series of the link whose queue is shown; null: the links' series are all shown. */
    bottleneck: string | null;
    whole: View;
    view: View;
    onView: (view: View) => void;
    flows: number[];
    flowTitle: (flow: number) => string;
    /** Look of a flow, if flows have their own looks. */
    flowLook?: ((flow: number) => FlowLook) | undefined;
    overlay?: OtherRun | null;
    /** Names of series that are shown in addition to the default ones. */
    added?: string[];
    onAdded?: (added: string[]) => void;
    hidden?: string[];
    onHidden?: (hidden: string[]) => void;
    /** Kinds of events that cross all panels as vertical lines. */
    lines?: string[];
    onLines?: (lines: string[]) => void;
    range?: View | null;
    onRange?: (range: View | null) => void;
    /** Part of the time axis that an element outside the stack highlights. */
    highlight?: View | null;
    /** Time that moves in another picture and is shown here as a line. */
    moment?: Moment;
    /** Element whose keys are handled; default: the stack. */
    keys?: { current: HTMLElement | null };
    /** Counter that grows with the data of a running simulation. */
    age?: number;
    /** Number of the run, if one source delivers several runs. */
    run?: number;
    /** `owner/name` of series that `more` needs in addition to those of the panels. */
    also?: string[];
    /** Additional diagrams over the common time axis. */
    more?: (stack: InStack) => ComponentChildren;
}

/** Maximum number of columns to request, for wide screens. */
const MOST_COLUMNS = 2000;

export function Timeline(props: TimelineProps) {
    const { source, seriesList, whole, view, onView, flows, overlay = null, range = null, age = 0 } = props;
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
    const ownKeys = useMemo(() => new Set(seriesList.map(keyOf)), [seriesList]);
    const otherKeys = useMemo(() => new Set(overlay?.seriesList.map(keyOf)), [overlay?.seriesList]);
    const choice = useMemo(() => {
        // Series that only the overlaid run has are shown too.
        const allSeries = [...seriesList, ...(overlay?.seriesList ?? []).filter((each) => !ownKeys.has(keyOf(each)))];
        return panelsOf(allSeries, props.bottleneck, shownFlows, added);
    }, [seriesList, overlay?.seriesList, props.bottleneck, shownFlows, added.join()]);
    const panels = choice.panels.filter(({ id }) => !hidden.includes(id));
    const requestKeys = [
        ...new Set([...panels.flatMap(({ keys }) => keys), ...choice.states.map(keyOf), ...(props.also ?? [])]),
    ];
    const plot = plotOf(width);
    const columns = Math.max(0, Math.min(MOST_COLUMNS, Math.round(plot.right - plot.left)));
    const ownRequestKeys = requestKeys.filter((key) => ownKeys.has(key));
    const answer = useWindow(source, view, columns, ownRequestKeys, age);
    const shift = overlay?.shift_ns ?? 0;
    const otherView = { from: Math.max(0, view.from - shift), to: Math.max(1, view.to - shift) };
    const otherAnswer = useWindow(
        overlay?.source ?? null,
        otherView,
        columns,
        requestKeys.filter((key) => otherKeys.has(key)),
    );
    const { data } = answer;
    const otherData = useMemo(
        () => (overlay && otherAnswer.data ? shiftData(otherAnswer.data, shift) : null),
        [overlay, otherAnswer.data, shift],
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
    const live = anchor !== null && cursor !== null ? viewBetween(anchor, cursor) : range;

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
        const panelLines: Line[] = [];
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
                panelLines.push({
                    series,
                    stroke: strokeIn(series, index, names, isOther),
                    title: [owner, name].filter(Boolean).join(" ") + (isOther && overlay ? ` (${overlay.title})` : ""),
                    isOther,
                });
            }
        }
        return panelLines;
    };
    const panelsWithLines = panels.map((panel) => ({ ...panel, lines: linesOf(panel.keys) }));
    function readOut(time: number): string {
        return panelsWithLines
            .flatMap((panel) =>
                panel.lines.map((line) => `${line.title} ${rangeText(valueAt(line.series, time))} ${panel.unit}`),
            )
            .join("; ");
    }
    const lanes: Lane[] = [data, otherData].flatMap((from, index) =>
        choice.states.flatMap((each) => {
            const series = from?.series.get(keyOf(each));
            if (!series?.states || series.time.length === 0) return [];
            // Flags of many flows would hide the modes.
            if (flows.length > 2 && isFlag(series)) return [];
            const flow = flowOf(each.owner);
            const owner = several && flow !== null ? props.flowTitle(flow) : "";
            const run = index === 1 && overlay ? `(${overlay.title})` : "";
            const short = [run && "*", several && flow !== null ? `${flow}:` : "", each.title]
                .filter(Boolean)
                .join(" ");
            return [{ series, short, title: [owner, each.title, run].filter(Boolean).join(" "), isOther: index === 1 }];
        }),
    );
    const counts = useMemo(
        () => (data ? countEvents(data.events, view, shownFlows) : new Map<string, number>()),
        [data, view.from, view.to, shownFlows],
    );
    const kinds = useKinds(data, props.run ?? 0);
    const behind = { events: data?.events ?? null, kinds: lines, flows: shownFlows };
    const dependencies = [data, otherData, lines.join(), flows.join(), props.flowLook];
    const height = width < 560 ? 104 : 118;
    const span = view.to - view.from;

    return (
        <section class="timeline" ref={root} aria-label="Diagrams over time">
            <Tools
                {...doing}
                setDrag={setDrag}
                anchor={anchor}
                measure={() => setAnchor(anchor === null ? (cursor ?? (view.from + view.to) / 2) : null)}
                choice={choice}
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
                aria-busy={answer.isWaiting}
            >
                <div class="ruler">
                    <Overview
                        source={source}
                        seriesList={seriesList}
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
                        dependencies={[view.from, view.to, inks]}
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
                        {...{ behind, kinds, counts, view, width, inks, cursor, lines, dependencies }}
                        onLines={props.onLines ?? (() => {})}
                    />
                )}
                {lanes.length > 0 && (
                    <States
                        {...{ lanes, view, width, inks, cursor, dependencies }}
                        colors={(state) => onGround(freeLook(Math.abs(Math.round(state))).color, inks.dark)}
                    />
                )}
                {panelsWithLines.map(({ id, title, unit, lines: all }) => (
                    <Panel
                        key={id}
                        {...{ title, unit, view, width, height, inks, cursor, behind }}
                        lines={all}
                        dependencies={dependencies}
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
                    isSettled={anchor === null}
                    keys={panels.flatMap(({ keys }) => keys).filter((key) => ownKeys.has(key))}
                    titles={
                        new Map(
                            panelsWithLines.flatMap(({ lines: all, unit }) =>
                                all
                                    .filter((line) => !line.isOther)
                                    .map((line) => [line.series.key, `${line.title}${unit ? `, ${unit}` : ""}`]),
                            ),
                        )
                    }
                    flows={shownFlows}
                    onZoom={() => onView(limit(live, whole))}
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
                        ...panelsWithLines.flatMap(({ lines: all, unit }) =>
                            all.map(({ series, title }) => ({ series, title, unit })),
                        ),
                        ...lanes.map(({ series, title }) => ({ series, title, unit: "" })),
                    ]}
                />
            )}
        </section>
    );
}

/** Returns an x coordinate moved into the plot. */
function place(x: number, width: number): number {
    return Math.max(62, Math.min(x, width - 62));
}

/** Returns all kinds of events seen up to now, so that rows stay in place while the window changes. */
function useKinds(data: WindowData | null, run: number): string[] {
    const kinds = useRef(new Set<string>());
    const runOfKinds = useRef(run);
    return useMemo(() => {
        if (runOfKinds.current !== run) kinds.current.clear();
        runOfKinds.current = run;
        if (data) for (let row = 0; row < data.events.time.length; row++) kinds.current.add(data.events.kind(row));
        return Object.keys(EVENT_LOOKS).filter((kind) => kinds.current.has(kind));
    }, [data, run]);
}

/** Returns true if the states of a series are "no" and "yes". */
function isFlag({ states }: Series): boolean {
    return states?.size === 2 && states.get(0) === "no";
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
