/** Diagrams of the run: its series over time, its packets by number, and explanatory sentences. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { flowOf } from "../charts/panels";
import { type PacketName, Sequence, sequenceSeries } from "../charts/sequence";
import type { FlowLook } from "../charts/strokes";
import { type Moment, Timeline } from "../charts/timeline";
import { around, limit, sameView, type View } from "../charts/view";
import { Explanation } from "../charts/why";
import type { Sentence } from "../data/source";
import type { Engine, Progress } from "./engine";
import type { Line } from "./lines";

/** Idle time before the sentences of a run are computed, ms. A moving slider is then not delayed. */
const REST_MS = 150;
/** Interval at which the packets of an active run are requested again, ms. */
const PACKETS_MS = 1000;

interface Props {
    engine: Engine;
    progress: Progress;
    lines: Line[];
    /** Name of the preset. A change shows the whole run. */
    preset: string;
    /** Moment that the picture of packets shows. */
    moment: Moment;
}

interface Reading {
    run: number;
    sentences: Sentence[];
    problem: string;
}

export function Diagrams({ engine, progress, lines, preset, moment }: Props) {
    const { run, duration_ns, seriesList } = progress;
    const isDone = progress.totals !== null;
    const fullView = useMemo(() => ({ from: 0, to: Math.max(1, duration_ns) }), [duration_ns]);
    const [zoom, setZoom] = useState<View | null>(null);
    const view = useMemo(() => (zoom ? limit(zoom, fullView) : fullView), [zoom, fullView]);
    const setView = useCallback((next: View) => setZoom(sameView(next, fullView) ? null : next), [fullView]);
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
        const owners = seriesList.map(({ owner }) => owner).filter((owner) => flowOf(owner) === null);
        return owners.find((owner) => owner.startsWith("link data/")) ?? null;
    }, [seriesList]);
    const sequenceFlow = flows.includes(packetFlow) ? packetFlow : 1;
    const packetsAge = useAge(run, isDone, progress.age);

    const isOld = reading !== null && (reading.run !== run || !isDone);
    const show = (index: number | null) => {
        const sentence = index === null ? null : (reading?.sentences[index] ?? null);
        setSentence(sentence);
        if (!sentence) return;
        setView(around(sentence.from_ns, sentence.to_ns, fullView));
        if (sentence.flow !== null) setPacketFlow(sentence.flow);
        heading.current?.scrollIntoView({ block: "start" });
    };

    return (
        <div ref={place}>
            <div class="row over-time">
                <h2 ref={heading}>Over time</h2>
                <button type="button" onClick={() => setView(around(moment.at_ns - 5e8, moment.at_ns + 5e8, fullView))}>
                    At the packets
                </button>
            </div>
            <Timeline
                source={engine}
                seriesList={seriesList}
                bottleneck={bottleneck}
                whole={fullView}
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
                            {...{ view, whole: fullView, width, data, inks, pinned }}
                            source={engine}
                            flow={sequenceFlow}
                            flowTitle={flowTitle(sequenceFlow)}
                            onView={setView}
                            onPin={setPinned}
                            keys={place}
                            isPrecomputed={false}
                            age={packetsAge}
                        />
                    </>
                )}
            />
            <section aria-labelledby="why">
                <h2 id="why">Why</h2>
                {reading === null && <p class="quiet">What happened is told when the run is over.</p>}
                {reading?.problem && <p class="quiet">{reading.problem}</p>}
                <Explanation reading={reading?.sentences ?? []} chosen={sentence} onChoose={show} old={isOld} />
            </section>
        </div>
    );
}

/** Returns a number that changes when a run is done, and regularly before that if the run takes long. */
function useAge(run: number, isDone: boolean, age: number): number {
    const last = useRef({ run, isDone, age, at: performance.now() });
    const { current } = last;
    const now = performance.now();
    const isOther = current.run !== run;
    const isDue = isDone ? isOther || !current.isDone : !isOther && now - current.at > PACKETS_MS;
    if (isOther || isDue) last.current = { run, isDone, age: isDue ? age : current.age, at: now };
    return last.current.age;
}
