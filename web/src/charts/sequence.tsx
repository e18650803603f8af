/** Time-sequence diagram: every packet of a flow over time, by number, with its fate. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Life, RunData } from "../data/source";
import { drawMarker } from "../ui/looks";
import type { Inks } from "../ui/theme";
import { Canvas } from "./canvas";
import { clip, drawGrid, drawSeries, eventColor, extent, type Scale, yOf } from "./draw";
import {
    lifeSteps,
    MARKS,
    type Mark,
    nearestPacket,
    type Packets,
    packetsOf,
    STEPS,
    type Step,
    stepActivity,
} from "./packets";
import { firstAt, type Series, type WindowData } from "./series";
import { axisRange, exactTime, spanText, valueTicks } from "./ticks";
import { limit, plotOf, type View, xOf } from "./view";
import { identity, useNewest } from "./windows";

/** Maximum number of packets that are drawn individually. */
const MOST = 12_000;
const ROWS = 50;
const NONE: number[] = [];
/** Radius around the pointer in which a packet is selected, pixels. */
const REACH = 30;

export interface PacketName {
    flow: number;
    seq: number;
}

interface Props {
    source: RunData;
    flow: number;
    flowTitle: string;
    view: View;
    whole: View;
    onView: (view: View) => void;
    width: number;
    /** Series and events of the window, drawn if there are too many packets. */
    data: WindowData | null;
    inks: Inks;
    pinned: PacketName | null;
    onPin: (packet: PacketName | null) => void;
    /** Additional element whose keys are handled. */
    keys?: { current: HTMLElement | null };
    /** True for a written site, which has the life of no other packet. */
    isPrecomputed: boolean;
    age?: number;
}

export function Sequence(props: Props) {
    const { source, flow, view, whole, onView, width, data, inks, pinned, onPin, age = 0 } = props;
    const [off, setOff] = useState<readonly string[]>([]);
    const [paths, setPaths] = useState(true);
    const [table, setTable] = useState(false);
    const [hovered, setHovered] = useState<number | null>(null);
    const {
        data: answer,
        isWaiting,
        problem,
    } = useNewest(
        width > 0
            ? async () => ({ view, packets: packetsOf(await source.packets(view.from, view.to, flow, MOST)) })
            : null,
        `${identity(source)} ${flow} ${view.from} ${view.to} ${age} ${width > 0}`,
    );
    const packets = answer?.packets ?? null;
    const visibleMarks = useMemo(() => MARKS.filter(({ id }) => !off.includes(id)), [off]);
    const height = width < 560 ? 260 : 340;
    const plot = plotOf(width);
    const visibleRows = useMemo(
        () => (packets ? visible(packets, view, flow) : []),
        [packets, view.from, view.to, flow],
    );
    const tooMany = packets?.tooMany || (visibleRows.length > MOST ? visibleRows.length : 0);
    const isTooMany = tooMany > 0;
    const drawnPackets = isTooMany ? null : packets;
    const ends = useNewest(
        isTooMany && !props.isPrecomputed ? () => endsOf(source, view, flow) : null,
        isTooMany && !props.isPrecomputed ? `${identity(source)} ${flow} ${view.from} ${view.to} ${age}` : "",
    );
    const sentSeries = useMemo(
        () => (isTooMany ? sentLine(data, flow, ends.data) : null),
        [isTooMany, data, flow, ends.data],
    );
    const rows = drawnPackets ? visibleRows : NONE;
    const scale = useMemo(
        () =>
            drawnPackets
                ? scaleOfPackets(drawnPackets, rows, view, height)
                : scaleOfEvents(data, sentSeries, flow, view, height),
        [drawnPackets, rows, data, sentSeries, view.from, view.to, flow, height],
    );
    const counts = useMemo(
        () => new Map(MARKS.map((mark) => [mark.id, drawnPackets ? countMarks(drawnPackets, rows, mark, view) : 0])),
        [drawnPackets, rows, view.from, view.to],
    );
    const span = view.to - view.from;
    const enough = isTooMany ? Math.max(1000, (span * MOST * 0.7) / tooMany) : 0;
    useEffect(() => setHovered(null), [drawnPackets]);

    const pinnedRow = useMemo(() => {
        if (!drawnPackets || !pinned || pinned.flow !== flow) return null;
        const row = rows.find((each) => drawnPackets.seq[each] === pinned.seq);
        return row ?? null;
    }, [drawnPackets, rows, pinned, flow]);
    const current = hovered ?? pinnedRow;
    const step = (by: number) => {
        if (!drawnPackets || rows.length === 0) return;
        const from = current === null ? -1 : rows.indexOf(current);
        const next = from < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, from + by));
        setHovered(rows[next]!);
    };
    const pin = (row: number | null) => {
        if (!drawnPackets || row === null) return;
        const isPinned = pinned && pinned.seq === drawnPackets.seq[row] && pinned.flow === flow;
        onPin(isPinned ? null : { flow, seq: drawnPackets.seq[row]! });
    };
    const figure = useRef<HTMLElement>(null);
    const acts = useRef({ step, pin, current });
    acts.current = { step, pin, current };
    useEffect(() => {
        const element = props.keys?.current ?? figure.current;
        if (!element) return;
        const onKey = (event: KeyboardEvent) => {
            const target = event.target as HTMLElement;
            if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
            if (target.closest("input, select, textarea")) return;
            const key = event.key.toLowerCase();
            if (key === "n") acts.current.step(1);
            else if (key === "p") acts.current.step(-1);
            else if (key === "enter" && acts.current.current !== null && !target.closest("button, a, summary"))
                acts.current.pin(acts.current.current);
            else return;
            event.preventDefault();
        };
        element.addEventListener("keydown", onKey);
        return () => element.removeEventListener("keydown", onKey);
    }, [props.keys]);
    const point = (event: PointerEvent | MouseEvent): number | null => {
        if (!drawnPackets) return null;
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        const at = { x: event.clientX - box.left, y: event.clientY - box.top };
        return nearestPacket(
            drawnPackets,
            visibleMarks,
            (time) => xOf(time, view, plot),
            (seq) => yOf(seq, scale),
            at,
            REACH,
        );
    };
    const pressPoint = useRef<[number, number] | null>(null);
    const title = `Packets of ${props.flowTitle}`;
    const says = isTooMany
        ? `${tooMany} packets, too many to draw each; zoom in to ${spanText(enough)}`
        : MARKS.filter((mark) => counts.get(mark.id))
              .map((mark) => `${mark.title} ${counts.get(mark.id)}`)
              .join(", ") || "no packets in this window";

    return (
        <figure class="panel sequence" ref={figure} aria-label={title} aria-busy={isWaiting}>
            <figcaption>
                <span class="title">
                    {title}
                    <span class="quiet"> by number, over time</span>
                </span>
                {isTooMany && props.isPrecomputed && packets?.tooMany ? (
                    <span>{tooMany} packets are more than this site keeps.</span>
                ) : (
                    isTooMany && (
                        <span role="status">
                            {tooMany} packets: zoom in to {spanText(enough)} to see them
                            {sentSeries && "; the line is how many were sent"}.{" "}
                            <button
                                type="button"
                                class="small"
                                onClick={() => {
                                    const middle = (view.from + view.to) / 2;
                                    onView(limit({ from: middle - enough / 2, to: middle + enough / 2 }, whole));
                                }}
                            >
                                zoom in
                            </button>
                        </span>
                    )
                )}
                {problem && <span class="bad">{problem}</span>}
            </figcaption>
            <fieldset class="toggles" aria-label="What is drawn">
                {MARKS.map((mark) => (
                    <button
                        type="button"
                        class="small"
                        key={mark.id}
                        aria-pressed={!off.includes(mark.id)}
                        title={mark.says}
                        onClick={() =>
                            setOff(off.includes(mark.id) ? off.filter((each) => each !== mark.id) : [...off, mark.id])
                        }
                    >
                        <MarkSwatch mark={mark} inks={inks} /> {mark.title}
                        {drawnPackets && <b data-packets={mark.id}> {counts.get(mark.id)}</b>}
                    </button>
                ))}
                <button
                    type="button"
                    class="small"
                    aria-pressed={paths}
                    title="a line from sending to arriving; orange while it was queued"
                    onClick={() => setPaths(!paths)}
                >
                    ways
                </button>
                <button type="button" class="small" aria-pressed={table} onClick={() => setTable(!table)}>
                    packets as a table
                </button>
            </fieldset>
            <div class="layers">
                <Canvas
                    width={width}
                    height={height}
                    label={`${title}, by number, from ${exactTime(view.from)} to ${exactTime(view.to)}: ${says}`}
                    dependencies={[drawnPackets, rows, data, sentSeries, view.from, view.to, inks, off, paths, scale]}
                    onPointerMove={(event) => {
                        if (event.buttons === 0) setHovered(point(event));
                    }}
                    onPointerLeave={() => setHovered(null)}
                    onPointerDown={(event) => {
                        pressPoint.current = [event.clientX, event.clientY];
                    }}
                    onClick={(event) => {
                        const [x, y] = pressPoint.current ?? [event.clientX, event.clientY];
                        if (Math.hypot(event.clientX - x, event.clientY - y) < 4) pin(point(event));
                    }}
                    draw={(context) => {
                        drawGrid(context, plot, scale, view, inks, wholeTicks(scale));
                        clip(context, plot, 0, height, () => {
                            if (drawnPackets)
                                drawPackets(context, drawnPackets, rows, visibleMarks, paths, view, width, scale, inks);
                            else drawSummary(context, data, sentSeries, flow, view, width, scale, inks, visibleMarks);
                        });
                    }}
                />
                {drawnPackets && current !== null && (
                    <Canvas
                        class="above"
                        width={width}
                        height={height}
                        aria-hidden="true"
                        label=""
                        dependencies={[drawnPackets, current, view.from, view.to, inks, scale]}
                        draw={(context) =>
                            clip(context, plot, 0, height, () =>
                                drawCurrent(context, drawnPackets, current, view, width, scale, inks),
                            )
                        }
                    />
                )}
            </div>
            {drawnPackets && current !== null && (
                <PacketLife
                    packets={drawnPackets}
                    row={current}
                    isPinned={current === pinnedRow}
                    onUnpin={() => onPin(null)}
                    inks={inks}
                    width={width}
                    source={source}
                    isPrecomputed={props.isPrecomputed}
                />
            )}
            {drawnPackets && current === null && rows.length > 0 && (
                <p class="quiet">Point at a packet, or press N, to see its life. A click or Enter keeps it.</p>
            )}
            {pinned && pinnedRow === null && (
                <p class="quiet row">
                    Packet {pinned.seq} of flow {pinned.flow} is kept, and not in this window.
                    <button type="button" class="small" onClick={() => onPin(null)}>
                        let it go
                    </button>
                </p>
            )}
            {table && drawnPackets && <PacketTable packets={drawnPackets} rows={rows} />}
        </figure>
    );
}

/** Returns the rows of a flow's packets with an event in the window, by number. */
function visible(packets: Packets, view: View, flow: number): number[] {
    const visibleRows: number[] = [];
    for (let row = 0; row < packets.rows; row++) {
        if (packets.flow[row] !== flow) continue;
        let first = Number.POSITIVE_INFINITY;
        let last = Number.NEGATIVE_INFINITY;
        for (const [name] of STEPS) {
            const time = packets.times[name][row]!;
            if (time < first) first = time;
            if (time > last) last = time;
        }
        if (first <= view.to && last >= view.from) visibleRows.push(row);
    }
    return visibleRows.sort((one, other) => packets.seq[one]! - packets.seq[other]!);
}

function countMarks(packets: Packets, rows: readonly number[], mark: Mark, view: View): number {
    let count = 0;
    for (const row of rows) {
        const time = mark.at(packets, row);
        if (time >= view.from && time <= view.to) count++;
    }
    return count;
}

function scaleOfPackets(packets: Packets, rows: readonly number[], view: View, height: number): Scale {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    const take = (seq: number) => {
        if (seq < low) low = seq;
        if (seq > high) high = seq;
    };
    for (const row of rows) {
        for (const mark of MARKS) {
            const time = mark.at(packets, row);
            if (time >= view.from && time <= view.to) {
                take(packets.seq[row]!);
                break;
            }
        }
    }
    if (low > high) for (const row of rows) take(packets.seq[row]!);
    return roomy(low, high, height);
}

function roomy(low: number, high: number, height: number): Scale {
    if (low > high) return { low: 0, high: 1, top: 8, bottom: height - 8 };
    const room = Math.max(0.8, (high - low) * 0.04);
    return { low: low - room, high: high + room, top: 8, bottom: height - 8 };
}

/** Returns the key of the send rate, from which the line of sent packets is computed if there are too many packets. */
export function sequenceSeries(flow: number): string {
    return `flow ${flow}/send_rate`;
}

/** Highest packet numbers sent by either end of a window. */
interface Ends {
    view: View;
    first: number;
    last: number;
}

/** Fetches the packets around the ends of a window: few, however many packets lie between. */
async function endsOf(source: RunData, view: View, flow: number): Promise<Ends | null> {
    const at = async (time: number, reach: number) => {
        const packets = packetsOf(await source.packets(Math.max(0, time - reach), Math.max(1, time), flow, MOST));
        let highest = Number.NEGATIVE_INFINITY;
        for (let row = 0; row < packets.rows; row++)
            if (packets.flow[row] === flow && packets.times.send_ns[row]! <= time)
                highest = Math.max(highest, packets.seq[row]!);
        return Number.isFinite(highest) ? highest : null;
    };
    const first = (await at(view.from, 1)) ?? 0;
    const last = (await at(view.to, 1)) ?? (await at(view.to, (view.to - view.from) / 50));
    return last !== null && last > first ? { view, first, last } : null;
}

/** Returns the number of packets sent by the end of each bin, computed from both ends and the send rate. */
function sentLine(data: WindowData | null, flow: number, ends: Ends | null): Series | null {
    const rate = data?.series.get(sequenceSeries(flow));
    if (!rate || !ends || rate.thinned || rate.bin_ns === 0) return null;
    const { view, first, last } = ends;
    const times = [view.from];
    const sums = [0];
    for (let row = 0; row < rate.time.length; row++) {
        const from = Math.max(view.from, rate.time[row]!);
        const to = Math.min(view.to, rate.time[row]! + rate.bin_ns);
        if (to <= from) continue;
        if (from > times.at(-1)!) {
            times.push(from);
            sums.push(sums.at(-1)!);
        }
        times.push(to);
        sums.push(sums.at(-1)! + rate.high[row]! * (to - from));
    }
    const total = sums.at(-1)!;
    if (!(total > 0)) return null;
    const seqs = sums.map((sum) => first + (sum / total) * (last - first));
    return { ...rate, kind: "points", thinned: false, time: times, low: seqs, high: seqs };
}

function scaleOfEvents(data: WindowData | null, sent: Series | null, flow: number, view: View, height: number): Scale {
    let [low, high] = sent ? extent(sent, view) : [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const events = data?.events;
    for (
        let row = events ? firstAt(events.time, view.from) : 0;
        events && row < events.time.length && events.time[row]! <= view.to;
        row++
    ) {
        if (events.flow[row] !== flow || !Number.isFinite(events.seq[row]!) || events.kind(row) === "ack_drop")
            continue;
        low = Math.min(low, events.seq[row]!);
        high = Math.max(high, events.seq[row]!);
    }
    const [from, to] = axisRange(low, high);
    return { low: from, high: to, top: 8, bottom: height - 8 };
}

/** Returns ticks at whole numbers only, since packet numbers are whole. */
function wholeTicks(scale: Scale): { values: number[]; labels: string[] } {
    const { values } = valueTicks(scale.low, scale.high, Math.max(2, (scale.bottom - scale.top) / 36));
    const integers = values.filter((each) => Number.isInteger(each) && each >= 0);
    return { values: integers, labels: integers.map(String) };
}

function colorOf(mark: Mark, inks: Inks): string {
    return inks.dark ? mark.dark : mark.color;
}

function MarkSwatch({ mark, inks }: { mark: Mark; inks: Inks }) {
    return (
        <Canvas
            width={14}
            height={12}
            label=""
            aria-hidden="true"
            dependencies={[inks]}
            draw={(context) => drawMark(context, mark, 7, 6, 8, colorOf(mark, inks))}
        />
    );
}

/** Draws a mark. Sent packets are bars and deliveries rings, so that both are visible if they overlap. */
function drawMark(
    context: CanvasRenderingContext2D,
    mark: Mark,
    x: number,
    y: number,
    size: number,
    color: string,
): void {
    context.strokeStyle = color;
    context.fillStyle = mark.id === "delivered" || mark.id === "acknowledged" ? "transparent" : color;
    context.lineWidth = mark.id === "dropped" ? 2 : 1.2;
    if (mark.id === "sent") {
        context.fillRect(x - 1, y - size / 2, 2, size);
        context.fillRect(x - 2.5, y - size / 2, 5, 1);
        context.fillRect(x - 2.5, y + size / 2 - 1, 5, 1);
        return;
    }
    drawMarker(context, mark.marker, x, y, size);
}

function drawPackets(
    context: CanvasRenderingContext2D,
    packets: Packets,
    rows: readonly number[],
    marks: readonly Mark[],
    paths: boolean,
    view: View,
    width: number,
    scale: Scale,
    inks: Inks,
): void {
    const plot = plotOf(width);
    const { times, seq } = packets;
    const row_height = (scale.bottom - scale.top) / (scale.high - scale.low);
    const x = (time: number) => xOf(time, view, plot);
    if (paths) {
        context.lineWidth = 1;
        context.strokeStyle = inks.quiet;
        context.globalAlpha = Math.max(0.03, Math.min(0.35, row_height * 0.12));
        context.beginPath();
        for (const row of rows) {
            const end = [times.deliver_ns[row]!, times.drop_ns[row]!, times.dequeue_ns[row]!].find(
                (each) => !Number.isNaN(each),
            );
            if (end === undefined) continue;
            const y = yOf(seq[row]!, scale);
            context.moveTo(x(times.send_ns[row]!), y);
            context.lineTo(x(end), y);
        }
        context.stroke();
        context.globalAlpha = Math.max(0.05, Math.min(0.45, row_height * 0.18));
        context.fillStyle = inks.dark ? "#e0a84f" : "#d98e00";
        const thick = Math.max(0.8, Math.min(6, row_height * 0.6));
        for (const row of rows) {
            const from = times.enqueue_ns[row]!;
            const to = times.dequeue_ns[row]!;
            if (!(to > from)) continue;
            context.fillRect(x(from), yOf(seq[row]!, scale) - thick / 2, x(to) - x(from), thick);
        }
        context.globalAlpha = 1;
    }
    // The size is limited by the height of a row, or by the distance between packets if they are sparse.
    const apart = (plot.right - plot.left) / Math.max(1, rows.length);
    const size = Math.max(3, Math.min(9, Math.max(row_height * 0.9, apart * 0.9)));
    for (const mark of marks) {
        const color = colorOf(mark, inks);
        const strong =
            mark.id === "dropped" || mark.id === "lost" || mark.id === "marked" || mark.id === "retransmitted";
        context.fillStyle = color;
        for (const row of rows) {
            const time = mark.at(packets, row);
            if (!(time >= view.from - (view.to - view.from) * 0.01 && time <= view.to + (view.to - view.from) * 0.01))
                continue;
            const y = yOf(seq[row]!, scale);
            if (strong) drawMark(context, mark, x(time), y, Math.max(6.5, size), color);
            else if (size > 4) drawMark(context, mark, x(time), y, size, color);
            else context.fillRect(x(time) - 0.8, y - size / 2, 1.6, size);
        }
    }
}

/** Draws a ring around each event of a packet, and a line along its number. */
function drawCurrent(
    context: CanvasRenderingContext2D,
    { times, seq }: Packets,
    current: number,
    view: View,
    width: number,
    scale: Scale,
    inks: Inks,
): void {
    const plot = plotOf(width);
    const x = (time: number) => xOf(time, view, plot);
    context.strokeStyle = inks.ink;
    context.lineWidth = 1.5;
    for (const [name] of STEPS) {
        const time = times[name][current]!;
        if (Number.isNaN(time)) continue;
        context.beginPath();
        context.arc(x(time), yOf(seq[current]!, scale), 7, 0, 2 * Math.PI);
        context.stroke();
    }
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(plot.left, yOf(seq[current]!, scale));
    context.lineTo(plot.right, yOf(seq[current]!, scale));
    context.stroke();
    context.setLineDash([]);
}

/** Draws a summary if there are too many packets: the line of sent numbers, and every rare event. */
function drawSummary(
    context: CanvasRenderingContext2D,
    data: WindowData | null,
    sent: Series | null,
    flow: number,
    view: View,
    width: number,
    scale: Scale,
    inks: Inks,
    marks: readonly Mark[],
): void {
    if (!data) return;
    const plot = plotOf(width);
    if (sent && marks.some(({ id }) => id === "sent")) {
        const color = colorOf(MARKS[0]!, inks);
        drawSeries(context, sent, view, plot, scale, { color, dashes: [], marker: "", width: 1.2 });
    }
    const kinds: Record<string, string> = { drop: "dropped", mark: "marked", lost: "lost" };
    const { events } = data;
    for (let row = firstAt(events.time, view.from); row < events.time.length && events.time[row]! <= view.to; row++) {
        const kind = events.kind(row);
        const mark = marks.find(({ id }) => id === kinds[kind]);
        if (!mark || events.flow[row] !== flow || !Number.isFinite(events.seq[row]!)) continue;
        drawMark(
            context,
            mark,
            xOf(events.time[row]!, view, plot),
            yOf(events.seq[row]!, scale),
            7,
            eventColor(kind, inks.dark),
        );
    }
}

function PacketLife({
    packets,
    row,
    isPinned,
    onUnpin,
    inks,
    width,
    source,
    isPrecomputed,
}: {
    packets: Packets;
    row: number;
    isPinned: boolean;
    onUnpin: () => void;
    inks: Inks;
    width: number;
    source: RunData;
    isPrecomputed: boolean;
}) {
    const flow = packets.flow[row]!;
    const seq = packets.seq[row]!;
    const steps = lifeSteps((step: Step) => packets.times[step][row]);
    const story = useNewest<Life | null>(
        isPinned && !isPrecomputed ? () => source.life(flow, seq) : null,
        isPinned && !isPrecomputed ? `${identity(source)} ${flow} ${seq}` : "",
    );
    const first = steps[0]?.time ?? 0;
    const last = steps.at(-1)?.time ?? first + 1;
    const again = packets.retransmission[row];
    return (
        <section class="life" aria-label="Life of a packet" aria-live="polite">
            <h3 class="row">
                Packet {seq} of flow {flow}, {packets.size[row]} bytes
                {again === 1 && ", a retransmission"}
                {packets.sacked[row] ? ", SACKed" : ""}
                {isPinned && (
                    <button type="button" class="small" onClick={onUnpin}>
                        let it go
                    </button>
                )}
            </h3>
            <Canvas
                width={Math.max(0, Math.min(width, 720) - 30)}
                height={16}
                aria-hidden="true"
                label=""
                dependencies={[row, packets, inks]}
                draw={(context, wide) => {
                    const x = (time: number) => 4 + ((time - first) / Math.max(1, last - first)) * (wide - 8);
                    context.fillStyle = inks.quiet;
                    context.fillRect(x(first), 7, x(last) - x(first), 2);
                    const [from, to] = [packets.times.enqueue_ns[row]!, packets.times.dequeue_ns[row]!];
                    context.fillStyle = inks.dark ? "#e0a84f" : "#d98e00";
                    if (to > from) context.fillRect(x(from), 4, Math.max(1, x(to) - x(from)), 8);
                    for (const { time } of steps) {
                        context.fillStyle = inks.ink;
                        context.fillRect(x(time) - 1, 2, 2, 12);
                    }
                }}
            />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys */}
            <section class="scroll" tabIndex={0} aria-label="What happened to the packet">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">what</th>
                            <th scope="col" class="number">
                                at
                            </th>
                            <th scope="col" class="number">
                                since it was sent
                            </th>
                            <th scope="col">the time before it</th>
                        </tr>
                    </thead>
                    <tbody>
                        {steps.map(({ name, title, time }, index) => {
                            const before = steps[index - 1];
                            return (
                                <tr key={name} data-step={name}>
                                    <th scope="row">{title}</th>
                                    <td class="number">{exactTime(time)}</td>
                                    <td class="number">{spanText(time - first)}</td>
                                    <td>
                                        {before && `${stepActivity(before.name, name)} ${spanText(time - before.time)}`}
                                    </td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </section>
            {story.data && story.data.sentences.length > 0 && (
                <ul>
                    {story.data.sentences.map((sentence) => (
                        <li key={sentence}>{sentence}</li>
                    ))}
                </ul>
            )}
        </section>
    );
}

function PacketTable({ packets, rows }: { packets: Packets; rows: readonly number[] }) {
    const cell = (time: number) => (Number.isNaN(time) ? "-" : exactTime(time));
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
        <section class="scroll table" tabIndex={0} aria-label="Packets of the window">
            {rows.length > ROWS && (
                <p class="quiet">
                    The first {ROWS} of {rows.length}; zoom in for others.
                </p>
            )}
            <table>
                <thead>
                    <tr>
                        <th scope="col">packet</th>
                        <th scope="col" class="number">
                            bytes
                        </th>
                        {STEPS.map(([name, title]) => (
                            <th scope="col" class="number" key={name}>
                                {title}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.slice(0, ROWS).map((row) => (
                        <tr key={row}>
                            <th scope="row">{packets.seq[row]}</th>
                            <td class="number">{packets.size[row]}</td>
                            {STEPS.map(([name]) => (
                                <td class="number" key={name}>
                                    {cell(packets.times[name][row]!)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}
