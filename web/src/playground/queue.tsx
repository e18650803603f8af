/** Animation of packets: in the queue, on the link, along the wire. Dropped packets fall. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Columns } from "../data/columns";
import { numberText } from "../data/numbers";
import type { PacketsMeta } from "../data/source";
import { drawMarker } from "../ui/looks";
import type { Inks } from "../ui/theme";
import type { Engine } from "./engine";
import type { Line } from "./lines";
import type { Scenario } from "./scenario";

const MOST_PACKETS = 60_000;
/** Speeds: simulated seconds per real second. */
const SPEEDS = [
    { factor: 1, title: "real time" },
    { factor: 1 / 5, title: "5 times slower" },
    { factor: 1 / 20, title: "20 times slower" },
    { factor: 1 / 100, title: "100 times slower" },
];
const PACKET_BYTES = 1500;
/** Duration of the fall of a dropped packet, real ms. */
const FALL_MS = 700;

interface Packet {
    flow: number;
    sent: number;
    /** Time of departure from the queue. */
    left: number;
    arrived: number;
    dropped_ns: number;
    marked: boolean;
}

/**
 * Returns the packets with their departure from the queue. For delivered packets the wire has a known delay; others
 * waited at the rate of the link.
 */
function packetsOf(table: Columns<PacketsMeta>, scenario: Scenario, rate_mbps: number): Packet[] {
    if (typeof table.meta.too_many === "number") return [];
    const [flow, size, sent] = [table.numbers("flow"), table.numbers("size_bytes"), table.numbers("send_ns")];
    const [drop, deliver, mark] = [table.numbers("drop_ns"), table.numbers("deliver_ns"), table.numbers("mark_ns")];
    const hasVariableDelay = scenario.jitter_ms > 0 || scenario.slot_ms > 0;
    const packets: Packet[] = [];
    let free = 0;
    for (let row = 0; row < sent.length; row++) {
        const number = flow[row]!;
        const flowRtt_ms = scenario.flows[number - 1]?.rtt_ms ?? scenario.rtt_ms;
        const wire_ns = (flowRtt_ms / 2) * 1e6;
        const dropTime = drop[row]!;
        const service = (size[row]! * 8e3) / rate_mbps;
        let left = Number.NaN;
        if (Number.isNaN(dropTime) || dropTime > sent[row]!) {
            const turn = Math.max(sent[row]!, free) + service;
            left = Number.isNaN(deliver[row]!) ? turn : hasVariableDelay ? turn : deliver[row]! - wire_ns;
            if (!Number.isNaN(dropTime)) left = Math.min(left, dropTime);
            left = Math.max(left, sent[row]!);
            free = Math.max(free, left);
        }
        packets.push({
            flow: number,
            sent: sent[row]!,
            left,
            arrived: deliver[row]!,
            dropped_ns: dropTime,
            marked: !Number.isNaN(mark[row]!),
        });
    }
    return packets;
}

interface Props {
    engine: Engine;
    scenario: Scenario;
    rate_mbps: number;
    /** Length of the queue; null without a limit. */
    limit: number | null;
    lines: Line[];
    inks: Inks;
    /** Number of the run. */
    run: number;
    /** Simulated time up to now, ns. */
    until_ns: number;
    /** Called with the moment that the picture shows. */
    onMoment: (at_ns: number) => void;
}

export function QueuePicture({ engine, scenario, rate_mbps, limit, lines, inks, run, until_ns, onMoment }: Props) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [speed, setSpeed] = useState(2);
    const still = useRef(matchMedia("(prefers-reduced-motion: reduce)").matches);
    const [playing, setPlaying] = useState(!still.current);
    const [at_ns, setAt] = useState(() => scenario.duration_s * 0.3e9);
    const [said, setSaid] = useState("");
    const state = useRef({ at: at_ns, from: 0, to: 0, packets: [] as Packet[], asking: false, lastNotice: 0 });
    const latest = useRef({ until_ns, scenario, rate_mbps });
    latest.current = { until_ns, scenario, rate_mbps };

    // A new run has new packets.
    useEffect(() => {
        const picture = state.current;
        picture.from = picture.to = 0;
        picture.packets = [];
        picture.at = Math.min(picture.at, latest.current.scenario.duration_s * 1e9);
    }, [run]);

    useEffect(() => {
        let frame = 0;
        let before = performance.now();
        const draw = (now: number) => {
            frame = requestAnimationFrame(draw);
            const picture = state.current;
            const factor = SPEEDS[speed]!.factor;
            const elapsed = Math.min(now - before, 100);
            before = now;
            const { until_ns: until } = latest.current;
            if (playing && picture.at < until && picture.to > picture.from) {
                picture.at += elapsed * 1e6 * factor;
                if (picture.at >= scenario.duration_s * 1e9) picture.at = 0;
            }
            // Loads enough for 1.5 s of watching, and the packets currently on their way.
            const length = Math.max(1.5e9 * factor, 2e7);
            if (
                !picture.asking &&
                until > 0 &&
                (picture.at < picture.from || picture.at + length / 3 > picture.to || picture.to === 0)
            ) {
                const from = picture.at;
                const to = Math.min(from + length, scenario.duration_s * 1e9);
                if (from < until && (picture.to !== to || picture.from > from || picture.packets.length === 0)) {
                    picture.asking = true;
                    const requestedRun = run;
                    const takePackets = (table: Columns<PacketsMeta> | null) => {
                        picture.asking = false;
                        if (requestedRun !== run) return;
                        const { scenario: made, rate_mbps: rate } = latest.current;
                        picture.packets = table ? packetsOf(table, made, rate) : [];
                        picture.from = from;
                        picture.to = until >= to ? to : from;
                    };
                    // Packets that were not stored cannot be drawn.
                    engine.packets(from, to, 0, MOST_PACKETS).then(takePackets, () => takePackets(null));
                }
            }
            const element = canvas.current;
            if (!element) return;
            const waiting = paint(element, picture.packets, picture.at, factor, {
                lines,
                inks,
                limit,
                scenario,
                rate_mbps,
            });
            if (now - picture.lastNotice > 250) {
                picture.lastNotice = now;
                setAt(picture.at);
                onMoment(picture.at);
                const ms = (waiting * PACKET_BYTES * 8) / rate_mbps / 1e3;
                setSaid(`${waiting} packets wait, ${numberText(ms, 1)} ms`);
            }
        };
        frame = requestAnimationFrame(draw);
        return () => cancelAnimationFrame(frame);
    }, [engine, lines, inks, limit, scenario, rate_mbps, run, speed, playing, onMoment]);

    const duration_ns = scenario.duration_s * 1e9;
    return (
        <section class="queue" aria-label="Packets on their way">
            <canvas ref={canvas} role="img" aria-label={`The queue before the link: ${said}`} />
            <div class="row">
                <button type="button" onClick={() => setPlaying(!playing)} aria-pressed={playing}>
                    {playing ? "Pause" : "Play"}
                </button>
                <label class="grow">
                    <span class="hidden">Moment of the run, s</span>
                    <input
                        type="range"
                        min={0}
                        max={duration_ns}
                        step={duration_ns / 1000}
                        value={at_ns}
                        aria-valuetext={`${numberText(at_ns / 1e9, 2)} s`}
                        onInput={(event) => {
                            state.current.at = Number(event.currentTarget.value);
                            setAt(state.current.at);
                        }}
                    />
                </label>
                <output>{numberText(at_ns / 1e9, 2)} s</output>
                <label>
                    <span class="hidden">Speed</span>
                    <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
                        {SPEEDS.map((each, index) => (
                            <option key={each.title} value={index}>
                                {each.title}
                            </option>
                        ))}
                    </select>
                </label>
            </div>
            <p class="quiet small">{said}</p>
        </section>
    );
}

interface Look {
    lines: Line[];
    inks: Inks;
    limit: number | null;
    scenario: Scenario;
    rate_mbps: number;
}

/** Draws a moment. Returns the number of waiting packets. */
function paint(element: HTMLCanvasElement, packets: Packet[], at: number, factor: number, look: Look): number {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
    }
    const context = element.getContext("2d");
    if (!context || width === 0) return 0;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const { inks, lines, limit } = look;
    const narrow = width < 560;
    // Positions.
    const top = 34;
    const bottom = height - 30;
    const middle = (top + bottom) / 2;
    const senders = narrow ? 14 : 22;
    const begin = narrow ? 52 : 110;
    const end = Math.round(width * (narrow ? 0.56 : 0.52));
    const wire = end + (narrow ? 20 : 34);
    const receiver = width - (narrow ? 16 : 26);

    const waiting = packets.filter((packet) => packet.sent <= at && packet.left > at);
    waiting.sort((one, other) => one.left - other.left);
    const room = limit ?? Math.max(60, Math.ceil(waiting.length / 50) * 50);
    // The queue is a tank of rows with its front at the right.
    const rows = Math.max(1, Math.min(12, Math.ceil(room / ((end - begin) / 9))));
    const perRow = Math.ceil(room / rows);
    const step = (end - begin) / perRow;
    const lane = (bottom - top) / rows;
    context.strokeStyle = inks.quiet;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(begin, top - 4);
    context.lineTo(end + 3, top - 4);
    context.lineTo(end + 3, bottom + 4);
    context.lineTo(begin, bottom + 4);
    if (limit !== null) context.lineTo(begin, top - 4);
    context.stroke();

    const color = (flow: number) => lines[flow - 1]?.color ?? inks.quiet;
    const block = (x: number, y: number, flow: number, size_x: number, size_y: number, marked: boolean) => {
        context.fillStyle = color(flow);
        context.fillRect(x, y, size_x, size_y);
        if (marked) {
            context.strokeStyle = inks.bad;
            context.lineWidth = 1.5;
            context.strokeRect(x, y, size_x, size_y);
        }
        // Every second flow has a stripe, for readers who do not see colours.
        if (size_x >= 5 && size_y >= 5 && flow % 2 === 0) {
            context.fillStyle = inks.ground;
            context.fillRect(x + size_x * 0.25, y + size_y * 0.42, size_x * 0.5, Math.max(1.5, size_y * 0.16));
        }
    };
    waiting.slice(0, rows * perRow).forEach((packet, place) => {
        const column = Math.floor(place / rows);
        const row = place % rows;
        const x = end - (column + 1) * step;
        block(
            x + 0.5,
            top + row * lane + 0.5,
            packet.flow,
            Math.max(1, step - 1),
            Math.max(1, lane - 1),
            packet.marked,
        );
    });

    // The link, and the wire behind it.
    context.strokeStyle = inks.line;
    context.lineWidth = 10;
    context.beginPath();
    context.moveTo(wire, middle);
    context.lineTo(receiver - 10, middle);
    context.stroke();
    context.fillStyle = inks.soft;
    context.strokeStyle = inks.quiet;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(end + 3, middle - 16);
    context.lineTo(wire, middle - 7);
    context.lineTo(wire, middle + 7);
    context.lineTo(end + 3, middle + 16);
    context.fill();
    context.stroke();
    const thick = 10;
    for (const packet of packets) {
        if (!(packet.left <= at)) continue;
        const endTime = Number.isNaN(packet.arrived) ? packet.dropped_ns : packet.arrived;
        if (!(endTime > at) || endTime <= packet.left) continue;
        const x = wire + ((receiver - 12 - wire) * (at - packet.left)) / (endTime - packet.left);
        block(x - 1.5, middle - thick / 2, packet.flow, 4, thick, packet.marked);
    }

    // Dropped packets fall: at the back if the queue was full, at the front if a discipline dropped them, behind the
    // link if the wire lost them.
    const fall_ns = FALL_MS * 1e6 * factor;
    for (const packet of packets) {
        const since = at - packet.dropped_ns;
        if (!(since >= 0 && since < fall_ns)) continue;
        const part = since / fall_ns;
        const isTail = packet.dropped_ns === packet.sent;
        const isLoss = packet.left < packet.dropped_ns;
        const x = isTail ? begin - 14 : isLoss ? wire + 30 : end - 6;
        const y = (isTail || isLoss ? middle : bottom) + part * (height - (isTail || isLoss ? middle : bottom) - 8);
        context.globalAlpha = 1 - part * 0.8;
        block(x - 4, y - 4, packet.flow, 8, 8, false);
        context.strokeStyle = inks.bad;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x - 6, y - 6);
        context.lineTo(x + 6, y + 6);
        context.moveTo(x + 6, y - 6);
        context.lineTo(x - 6, y + 6);
        context.stroke();
        context.globalAlpha = 1;
    }

    // Senders and receiver.
    lines.forEach((line, index) => {
        const y = top + ((bottom - top) * (index + 0.5)) / lines.length;
        context.strokeStyle = inks.line;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(senders + 8, y);
        context.lineTo(begin - 6, middle);
        context.stroke();
        context.fillStyle = line.color;
        context.strokeStyle = line.color;
        drawMarker(context, line.marker, senders, y, 13);
    });
    // Recently sent packets move to the queue. This is only for the eye: the real way takes no time.
    const approach = 120e6 * factor;
    for (const packet of packets) {
        const since = at - packet.sent;
        if (!(since >= -approach && since < 0)) continue;
        const part = 1 + since / approach;
        const y0 = top + ((bottom - top) * (packet.flow - 0.5)) / lines.length;
        const x = senders + 8 + (begin - 14 - senders) * part;
        block(x - 3, y0 + (middle - y0) * part - 3, packet.flow, 6, 6, false);
    }
    context.fillStyle = inks.quiet;
    context.strokeStyle = inks.quiet;
    context.lineWidth = 1.5;
    context.strokeRect(receiver - 10, middle - 14, 20, 28);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    const capacity = limit === null ? "" : ` of ${limit}`;
    context.fillText(`queue: ${waiting.length}${capacity} packets`, begin, top - 12);
    context.textAlign = "right";
    context.fillText(`${numberText(look.rate_mbps, look.rate_mbps < 10 ? 1 : 0)} Mbit/s`, width - 4, middle - 24);
    if (!narrow) context.fillText(`${numberText(look.scenario.rtt_ms / 2, 0)} ms each way`, width - 4, middle + 34);
    return waiting.length;
}
