/** What happened in the run: its series over time, its packets by number, and why, in sentences. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { flowOf } from "../charts/panels";
import { type PacketName, Sequence, sequenceSeries } from "../charts/sequence";
import type { FlowLook } from "../charts/strokes";
import { type Moment, Timeline } from "../charts/timeline";
import { around, limited, sameView, type View } from "../charts/view";
import { Why } from "../charts/why";
import type { Sentence } from "../data/source";
import type { Engine, Progress } from "./engine";
import type { Line } from "./lines";

/** A run is read when it rests for so long: a slider that moves on is not held up. */
const REST_MS = 150;
/** The packets of a run that goes on are asked for anew so often. */
const PACKETS_MS = 1000;

interface Props {
    engine: Engine;
    progress: Progress;
    lines: Line[];
    /** Its change is another story: all of it is shown. */
    preset: string;
    /** The moment whose packets are on their way above. */
    moment: Moment;
}

interface Reading {
    run: number;
    sentences: Sentence[];
    problem: string;
}

export function Diagrams({ engine, progress, lines, preset, moment }: Props) {
    const { run, duration_ns, known } = progress;
    const isDone = progress.totals !== null;
    const whole = useMemo(() => ({ from: 0, to: Math.max(1, duration_ns) }), [duration_ns]);
    const [zoom, setZoom] = useState<View | null>(null);
    const view = useMemo(() => (zoom ? limited(zoom, whole) : whole), [zoom, whole]);
    const setView = useCallback((next: View) => setZoom(sameView(next, whole) ? null : next), [whole]);
    const [added, setAdded] = useState<string[]>([]);
    const [hidden, setHidden] = useState<string[]>([]);
    const [events, setEvents] = useState<string[]>([]);
    const [range, setRange] = useState<View | null>(null);
    const [packetFlow, setPacketFlow] = useState(1);
    const [pinned, setPinned] = useState<PacketName | null>(null);
    const [sentence, setSentence] = useState<Sentence | null>(null);
    const [reading, setReading] = useState<Reading | null>(null);
    const place = useRef<HTMLDivElement>(null);
    const heading = useRef<HTMLHeadingElement>(null);

    useEffect(() => {
        setPinned(null);
        setSentence(null);
        setRange(null);
    }, [run]);
    useEffect(() => setZoom(null), [preset]);
    useEffect(() => {
        if (!isDone) return;
        let isCurrent = true;
        const read = () =>
            engine.reading().then(
                (sentences) => isCurrent && setReading({ run, sentences, problem: "" }),
                (why: Error) => isCurrent && setReading({ run, sentences: [], problem: why.message }),
            );
        const timer = setTimeout(read, REST_MS);
        return () => {
            isCurrent = false;
            clearTimeout(timer);
        };
    }, [engine, run, isDone]);

    const flows = useMemo(() => lines.map(({ flow }) => flow), [lines]);
    const flowTitle = useCallback((flow: number) => lines[flow - 1]?.title ?? `flow ${flow}`, [lines]);
    const flowLook = useCallback(
        (flow: number): FlowLook => lines[flow - 1] ?? { color: "#888888", dashes: [], marker: "" },
        [lines],
    );
    const bottleneck = useMemo(() => {
        const owners = known.map(({ owner }) => owner).filter((owner) => flowOf(owner) === null);
        return owners.find((owner) => owner.startsWith("link data/")) ?? null;
    }, [known]);
    const sequenceFlow = flows.includes(packetFlow) ? packetFlow : 1;
    const packetsAge = useAge(run, isDone, progress.age);

    const isOld = reading !== null && (reading.run !== run || !isDone);
    const show = (index: number | null) => {
        const chosen = index === null ? null : (reading?.sentences[index] ?? null);
        setSentence(chosen);
        if (!chosen) return;
        setView(around(chosen.from_ns, chosen.to_ns, whole));
        if (chosen.flow !== null) setPacketFlow(chosen.flow);
        heading.current?.scrollIntoView({ block: "start" });
    };

    return (
        <div ref={place}>
            <div class="row over-time">
                <h2 ref={heading}>Over time</h2>
                <button type="button" onClick={() => setView(around(moment.at_ns - 5e8, moment.at_ns + 5e8, whole))}>
                    At the packets
                </button>
            </div>
            <Timeline
                source={engine}
                known={known}
                bottleneck={bottleneck}
                whole={whole}
                view={view}
                onView={setView}
                flows={flows}
                flowTitle={flowTitle}
                flowLook={flowLook}
                added={added}
                onAdded={setAdded}
                hidden={hidden}
                onHidden={setHidden}
                lines={events}
                onLines={setEvents}
                range={range}
                onRange={setRange}
                highlight={sentence && { from: sentence.from_ns, to: sentence.to_ns }}
                moment={moment}
                keys={place}
                age={progress.age}
                run={run}
                also={[sequenceSeries(sequenceFlow)]}
                more={({ width, data, inks }) => (
                    <>
                        {flows.length > 1 && (
                            <label class="sequence-flow">
                                packets of{" "}
                                <select
                                    value={sequenceFlow}
                                    onChange={(event) => setPacketFlow(Number(event.currentTarget.value))}
                                >
                                    {flows.map((flow) => (
                                        <option key={flow} value={flow}>
                                            {flowTitle(flow)}
                                        </option>
                                    ))}
                                </select>
                            </label>
                        )}
                        <Sequence
                            {...{ view, whole, width, data, inks, pinned }}
                            source={engine}
                            flow={sequenceFlow}
                            flowTitle={flowTitle(sequenceFlow)}
                            onView={setView}
                            onPin={setPinned}
                            keys={place}
                            written={false}
                            age={packetsAge}
                        />
                    </>
                )}
            />
            <section aria-labelledby="why">
                <h2 id="why">Why</h2>
                {reading === null && <p class="quiet">What happened is told when the run is over.</p>}
                {reading?.problem && <p class="quiet">{reading.problem}</p>}
                <Why reading={reading?.sentences ?? []} chosen={sentence} onChoose={show} old={isOld} />
            </section>
        </div>
    );
}

/** Returns a number that changes when a run is done, and once in a while before, if that takes long. */
function useAge(run: number, isDone: boolean, age: number): number {
    const known = useRef({ run, isDone, age, at: performance.now() });
    const { current } = known;
    const now = performance.now();
    const isOther = current.run !== run;
    const isDue = isDone ? isOther || !current.isDone : !isOther && now - current.at > PACKETS_MS;
    if (isOther || isDue) known.current = { run, isDone, age: isDue ? age : current.age, at: now };
    return known.current.age;
}
