/** Page of a run: its facts, sentences that explain it, and all its recorded data over time. */

import "./run.css";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SeriesInfo } from "../charts/panels";
import { flowOf } from "../charts/panels";
import { type PacketName, Sequence, sequenceSeries } from "../charts/sequence";
import { spanText } from "../charts/ticks";
import { type OtherRun, Timeline } from "../charts/timeline";
import { around, limit, sameView, type View } from "../charts/view";
import { Explanation } from "../charts/why";
import { numberText } from "../data/numbers";
import {
    type Field,
    type FlowFacts,
    type RunFacts,
    type RunSource,
    type RunsFacts,
    runSource,
    type Sentence,
} from "../data/source";
import { addressOf, readAddress, useAddress } from "../data/state";
import { listOf, listText, partOf, runMeant, runPage } from "./address";
import { likelyOthers, runIdentities } from "./runs";

/** Number of flows that are drawn by default. */
const FIRST_FLOWS = 6;
/** Idle time of the window before the address follows, ms. */
const REST_MS = 250;

interface LoadedRun {
    source: RunSource;
    facts: RunFacts;
}

/** Returns a source that fetches the precomputed series once. Every window is cut from them. */
function readOnce(source: RunSource): RunSource {
    let window: ReturnType<RunSource["window"]> | null = null;
    let packets: ReturnType<RunSource["packets"]> | null = null;
    return {
        facts: () => source.facts(),
        reading: () => source.reading(),
        window: (...of) => {
            window ??= source.window(...of);
            return window;
        },
        packets: (...of) => {
            packets ??= source.packets(...of);
            return packets;
        },
        life: (flow, seq) => source.life(flow, seq),
        file: (name) => source.file(name),
        qlog: (flow) => source.qlog(flow),
    };
}

function useRun(id: string | null, kind: RunsFacts["kind"]): [LoadedRun | null, string] {
    const [loaded, setLoaded] = useState<LoadedRun | null>(null);
    const [problem, setProblem] = useState("");
    useEffect(() => {
        setLoaded(null);
        setProblem("");
        if (!id) return;
        let isMounted = true;
        const source = runSource(id, kind);
        source.facts().then(
            (facts) => isMounted && setLoaded({ source: facts.thinned_only ? readOnce(source) : source, facts }),
            (error: Error) => isMounted && setProblem(error.message),
        );
        return () => {
            isMounted = false;
        };
    }, [id, kind]);
    return [loaded, problem];
}

export function RunPage({ id, facts: runs }: { id: string; facts: RunsFacts }) {
    const [loaded, problem] = useRun(id, runs.kind);
    if (problem)
        return (
            <p class="bad" role="alert">
                {id}: {problem}
            </p>
        );
    if (!loaded)
        return (
            <p class="quiet" role="status">
                Reading the run…
            </p>
        );
    return <Run {...loaded} id={id} runs={runs} />;
}

/**
 * Returns the window of the page, a function that sets it, and the address. The address follows a window that rests.
 */
function useView(fullView: View): [View, (view: View) => void, ReturnType<typeof useAddress>] {
    const address = useAddress();
    const [{ query }, change] = address;
    const addressPart = partOf(query.get("from"), query.get("to"));
    const addressView = addressPart ? limit(addressPart, fullView) : fullView;
    const [view, setView] = useState(addressView);
    const writtenView = useRef(addressView);
    useEffect(() => {
        if (sameView(addressView, writtenView.current)) return;
        writtenView.current = addressView;
        setView(addressView);
    }, [addressView.from, addressView.to]);
    useEffect(() => {
        if (sameView(view, writtenView.current)) return;
        const timer = setTimeout(() => {
            writtenView.current = view;
            const isWhole = sameView(view, fullView);
            change({ from: isWhole ? null : String(view.from), to: isWhole ? null : String(view.to) }, true);
        }, REST_MS);
        return () => clearTimeout(timer);
    }, [view.from, view.to]);
    return [view, setView, address];
}

function Run({ source, facts, id, runs }: LoadedRun & { id: string; runs: RunsFacts }) {
    const fullView = useMemo(() => ({ from: 0, to: Math.max(1, facts.duration_ns) }), [facts.duration_ns]);
    const [view, setView, [{ query }, change]] = useView(fullView);
    const page = useRef<HTMLDivElement>(null);
    const heading = useRef<HTMLHeadingElement>(null);
    const diagrams = useRef<HTMLHeadingElement>(null);
    const [reading, setReading] = useState<Sentence[] | null>(null);
    const [unread, setUnread] = useState("");
    const [identities, setAll] = useState<string[]>([]);
    useEffect(() => {
        source.reading().then(setReading, (error: Error) => setUnread(error.message));
        runIdentities(runs).then(setAll);
        document.title = `${facts.label}: dumbbell`;
        // Keys work at once, and screen readers begin at the page's heading.
        if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
        return () => {
            document.title = "dumbbell";
        };
    }, [source]);

    const numbers = facts.flows.map(({ flow }) => flow);
    const queryFlows = listOf(query.get("flow")).map(Number);
    const chosenFlows = numbers.filter((flow) => queryFlows.includes(flow));
    const flows = chosenFlows.length > 0 ? chosenFlows : numbers.slice(0, FIRST_FLOWS);
    const packetFlow = Number(query.get("packets"));
    const sequenceFlow = numbers.includes(packetFlow) ? packetFlow : (flows[0] ?? 1);
    const flowTitle = (flow: number) => {
        const scheme = facts.flows.find((each) => each.flow === flow)?.scheme;
        return `flow ${flow}${scheme ? ` ${scheme}` : ""}`;
    };

    const sentence = query.has("why") ? (reading?.[Number(query.get("why"))] ?? null) : null;
    const highlight = sentence ? { from: sentence.from_ns, to: sentence.to_ns } : null;
    const range = partOf(...((query.get("range")?.split("-", 2) as [string, string]) ?? [null, null]));
    const [pinFlow, pinSeq] = (query.get("packet") ?? "").split(":").map(Number);
    const pinnedPacket: PacketName | null =
        pinFlow !== undefined && pinSeq !== undefined ? { flow: pinFlow, seq: pinSeq } : null;

    const otherId = query.get("with") || null;
    const [otherLoaded, otherProblem] = useRun(otherId, runs.kind);
    const shift = Number(query.get("shift")) || 0;
    const other: OtherRun | null = useMemo(
        () =>
            otherLoaded && {
                source: otherLoaded.source,
                seriesList: otherLoaded.facts.series,
                title: shortLabel(otherLoaded.facts, facts),
                shift_ns: shift * 1e6,
            },
        [otherLoaded, shift],
    );
    const show = (index: number) => {
        const { from_ns, to_ns, flow } = reading![index]!;
        const next = around(from_ns, to_ns, fullView);
        const changes: Record<string, string | null> = {
            why: String(index),
            from: String(next.from),
            to: String(next.to),
        };
        if (flow !== null && numbers.includes(flow)) {
            if (!flows.includes(flow)) changes.flow = listText([...flows, flow].map(String));
            changes.packets = String(flow);
        }
        change(changes);
        diagrams.current?.scrollIntoView({ block: "start" });
    };

    const bottleneck = useMemo(() => bottleneckOf(facts), [facts]);
    return (
        <div class="run" ref={page}>
            <Head facts={facts} identities={identities} id={id} heading={heading} />
            <div class="sides">
                <section aria-labelledby="why">
                    <h2 id="why">Why</h2>
                    {unread && <p class="bad">{unread}</p>}
                    {reading === null && !unread && <p class="quiet">Reading what happened…</p>}
                    {reading?.length === 0 && (
                        <p class="quiet">There is nothing to say about this run: its events were not recorded.</p>
                    )}
                    <Explanation
                        reading={reading ?? []}
                        chosen={sentence}
                        onChoose={(index) => (index === null ? change({ why: null }) : show(index))}
                    />
                </section>
                <Flows facts={facts} fields={runs.fields} source={source} />
            </div>
            <h2 ref={diagrams} id="diagrams">
                Over time
            </h2>
            {facts.thinned_only && (
                <p class="note">
                    This site keeps so many points of each series that nothing is missed at full width, and the lowest
                    and highest value between them; <code>dumbbell serve</code> shows every packet at any zoom.
                </p>
            )}
            {facts.series.length === 0 ? (
                <p class="note">Nothing was recorded over time.</p>
            ) : (
                <>
                    <div class="row choices">
                        <FlowChoice facts={facts} flows={flows} flowTitle={flowTitle} change={change} />
                        <OtherChoice
                            {...{ id, identities, otherId, shift, change }}
                            problem={otherProblem}
                            title={otherLoaded?.facts.label ?? ""}
                        />
                    </div>
                    <Timeline
                        source={source}
                        seriesList={facts.series as SeriesInfo[]}
                        bottleneck={bottleneck}
                        whole={fullView}
                        view={view}
                        onView={setView}
                        flows={flows}
                        flowTitle={flowTitle}
                        overlay={other}
                        added={listOf(query.get("more"))}
                        onAdded={(added) => change({ more: listText(added) }, true)}
                        hidden={listOf(query.get("hide"))}
                        onHidden={(hidden) => change({ hide: listText(hidden) }, true)}
                        lines={listOf(query.get("lines"))}
                        onLines={(lines) => change({ lines: listText(lines) }, true)}
                        range={range}
                        onRange={(part) => change({ range: part ? `${part.from}-${part.to}` : null }, true)}
                        highlight={highlight}
                        keys={page}
                        also={facts.has_packets ? [sequenceSeries(sequenceFlow)] : []}
                        more={({ width, data, inks }) =>
                            facts.has_packets && (
                                <>
                                    {numbers.length > 1 && (
                                        <label class="sequence-flow">
                                            packets of{" "}
                                            <select
                                                value={sequenceFlow}
                                                onChange={(event) =>
                                                    change({ packets: event.currentTarget.value }, true)
                                                }
                                            >
                                                {numbers.map((flow) => (
                                                    <option key={flow} value={flow}>
                                                        {flowTitle(flow)}
                                                    </option>
                                                ))}
                                            </select>
                                        </label>
                                    )}
                                    <Sequence
                                        {...{ source, view, whole: fullView, width, data, inks, pinned: pinnedPacket }}
                                        flow={sequenceFlow}
                                        flowTitle={flowTitle(sequenceFlow)}
                                        onView={setView}
                                        onPin={(packet) =>
                                            change({ packet: packet && `${packet.flow}:${packet.seq}` }, true)
                                        }
                                        keys={page}
                                        isPrecomputed={facts.thinned_only}
                                    />
                                </>
                            )
                        }
                    />
                </>
            )}
            {!facts.has_packets && facts.series.length > 0 && (
                <p class="note">
                    No packets were logged, so there is no diagram of packets: <code>--log packets</code> logs them,{" "}
                    <code>--log full</code> all that happens to each.
                </p>
            )}
            <Files facts={facts} source={source} />
        </div>
    );
}

/** Returns the parts of a run's name that differ from this run. */
function shortLabel(other: RunFacts, current: RunFacts): string {
    const parts = [
        other.scheme !== current.scheme && other.scheme,
        other.path !== current.path && other.path,
        other.directory !== current.directory && other.directory,
    ].filter(Boolean);
    return parts.length > 0 ? parts.join(" ") : `run ${other.run}`;
}

/** Returns the owner of the bottleneck's series: the first link in the data direction that has any series. */
function bottleneckOf(facts: RunFacts): string | null {
    const owners = facts.series.map(({ owner }) => owner).filter((owner) => flowOf(owner) === null);
    return (
        facts.links.map((link) => `link ${link}`).find((owner) => owners.includes(owner)) ??
        owners.find((owner) => owner.startsWith("link data/")) ??
        owners.find((owner) => owner.startsWith("link ")) ??
        null
    );
}

function Head({
    facts,
    identities,
    id,
    heading,
}: {
    facts: RunFacts;
    identities: string[];
    id: string;
    heading: { current: HTMLHeadingElement | null };
}) {
    const at = identities.indexOf(id);
    const filters = readAddress(location.hash).query;
    /** Parameters of the window and of runs laid over are kept. Parameters of this run alone are dropped. */
    const linkQuery = new URLSearchParams(
        [...filters].filter(([name]) => !["why", "packet", "flow", "packets", "with"].includes(name)),
    );
    const link = (index: number, text: string) => {
        const other = identities[index];
        if (at < 0 || other === undefined) return null;
        return (
            <a href={addressOf(runPage(other), linkQuery)} title={other}>
                {text}
            </a>
        );
    };
    return (
        <header class="head">
            <h1 ref={heading} tabIndex={-1}>
                {facts.label || `${facts.scheme} on ${facts.path}`}
            </h1>
            <nav class="row" aria-label="Other runs">
                {link(at - 1, "‹ previous run")}
                {link(at + 1, "next run ›")}
                {at >= 0 && (
                    <span class="quiet">
                        {at + 1} of {identities.length}
                    </span>
                )}
            </nav>
            <dl class="facts">
                <Fact name="scheme" value={facts.scheme} />
                <Fact name="path" value={facts.path} />
                <Fact name="run" value={String(facts.run)} />
                <Fact name="seed" value={facts.seed === null ? "-" : String(facts.seed)} />
                <Fact name="backend" value={facts.backend} />
                <Fact name="duration" value={spanText(facts.duration_ns)} />
                <Fact name="status" value={facts.status} bad={facts.status !== "done"} />
                {facts.reason && <Fact name="reason" value={facts.reason} bad={facts.status !== "done"} />}
            </dl>
        </header>
    );
}

function Fact({ name, value, bad = false }: { name: string; value: string; bad?: boolean }) {
    return (
        <div>
            <dt>{name}</dt>
            <dd class={bad ? "bad" : undefined}>{value}</dd>
        </div>
    );
}

/** Metrics of flows that are shown in addition to the main ones. */
const USUAL = ["throughput_mbps", "rtt_mean_ms", "timeouts", "loss_episodes", "retransmissions"];

/** Maximum number of flows that are columns. More flows are rows. */
const FLOW_COLUMNS = 3;

function Flows({ facts, fields, source }: { facts: RunFacts; fields: Field[]; source: RunSource }) {
    const hasMetric = (field: Field) => facts.flows.some(({ metrics }) => Number.isFinite(metrics[field.name]));
    const main = fields.filter((field) => field.group !== "run" && field.main);
    const usual = USUAL.flatMap((name) => fields.find((field) => field.name === name) ?? []);
    const tableFields = [...new Set([...main, ...usual])].filter(hasMetric);
    const columns: { title: string; says?: string; number: boolean; of: (flow: FlowFacts) => ComponentChildren }[] = [
        { title: "scheme", number: false, of: ({ scheme, reverse }) => `${scheme}${reverse ? " (reverse)" : ""}` },
        { title: "from, s", number: true, of: ({ start_s }) => numberText(start_s, 2) },
        { title: "to, s", number: true, of: ({ stop_s }) => numberText(stop_s, 2) },
        ...tableFields.map((field) => ({
            title: `${field.title}${field.unit ? `, ${field.unit}` : ""}`,
            says: [field.convention, field.formula].filter(Boolean).join(": "),
            number: true,
            of: ({ metrics }: FlowFacts) => numberText(toDisplay(metrics[field.name], field), field.digits ?? 2),
        })),
        {
            title: "qlog",
            number: false,
            of: ({ flow }) => <Qlog address={facts.has_packets ? source.qlog(flow) : null} flow={flow} />,
        },
    ];
    const areColumns = facts.flows.length <= FLOW_COLUMNS;
    return (
        <section aria-labelledby="flows">
            <h2 id="flows">Flows</h2>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys */}
            <section class={`scroll flows${areColumns ? "" : " many"}`} tabIndex={0} aria-label="Metrics of the flows">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">flow</th>
                            {areColumns
                                ? facts.flows.map(({ flow }) => (
                                      <th scope="col" class="number" key={flow}>
                                          {flow}
                                      </th>
                                  ))
                                : columns.map(({ title, says, number }) => (
                                      <th scope="col" class={number ? "number" : ""} key={title} title={says}>
                                          {title}
                                      </th>
                                  ))}
                        </tr>
                    </thead>
                    <tbody>
                        {areColumns
                            ? columns.map(({ title, says, of }) => (
                                  <tr key={title}>
                                      <th scope="row" title={says}>
                                          {title}
                                      </th>
                                      {facts.flows.map((flow) => (
                                          <td class="number" key={flow.flow}>
                                              {of(flow)}
                                          </td>
                                      ))}
                                  </tr>
                              ))
                            : facts.flows.map((flow) => (
                                  <tr key={flow.flow}>
                                      <th scope="row">{flow.flow}</th>
                                      {columns.map(({ title, number, of }) => (
                                          <td class={number ? "number" : ""} key={title}>
                                              {of(flow)}
                                          </td>
                                      ))}
                                  </tr>
                              ))}
                    </tbody>
                </table>
            </section>
        </section>
    );
}

function Qlog({ address, flow }: { address: string | null; flow: number }) {
    if (!address) return <>-</>;
    return (
        <a href={address} download aria-label={`qlog of flow ${flow}`}>
            qlog
        </a>
    );
}

function toDisplay(value: number | undefined, field: Field): number | null {
    return value === undefined || value === null ? null : value * (field.factor ?? 1);
}

type Change = (changes: Record<string, string | null>, keeps?: boolean) => void;

function FlowChoice({
    facts,
    flows,
    flowTitle,
    change,
}: {
    facts: RunFacts;
    flows: number[];
    flowTitle: (flow: number) => string;
    change: Change;
}) {
    const [filter, setFilter] = useState("");
    const numbers = facts.flows.map(({ flow }) => flow);
    if (numbers.length < 2) return null;
    const set = (next: number[]) =>
        change({ flow: listText(numbers.filter((each) => next.includes(each)).map(String)) }, true);
    const matchingFlows = numbers.filter((flow) => flowTitle(flow).includes(filter));
    return (
        <details class="flow-choice" open={numbers.length <= 12}>
            <summary>
                {flows.length} of {numbers.length} flows drawn
            </summary>
            {numbers.length > 12 && (
                <label>
                    find{" "}
                    <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
                </label>
            )}
            <fieldset class="row many" aria-label="Flows that are drawn">
                {matchingFlows.map((flow) => (
                    <button
                        type="button"
                        class="small"
                        key={flow}
                        aria-pressed={flows.includes(flow)}
                        onClick={() =>
                            set(flows.includes(flow) ? flows.filter((each) => each !== flow) : [...flows, flow])
                        }
                    >
                        {flowTitle(flow)}
                    </button>
                ))}
            </fieldset>
        </details>
    );
}

function OtherChoice({
    id,
    identities,
    otherId,
    shift,
    change,
    problem,
    title,
}: {
    id: string;
    identities: string[];
    otherId: string | null;
    shift: number;
    change: Change;
    problem: string;
    title: string;
}) {
    const likely = useMemo(() => likelyOthers(id, identities, 300), [id, identities]);
    const choose = (text: string) => {
        const otherId = runMeant(text);
        if (otherId && otherId !== id) change({ with: otherId });
    };
    return (
        <div class="row other-choice">
            <label>
                lay over it{" "}
                <input
                    list="other-runs"
                    placeholder="another run, or its address"
                    value={otherId ?? ""}
                    onChange={(event) => choose(event.currentTarget.value)}
                />
            </label>
            <datalist id="other-runs">
                {likely.map((each) => (
                    <option key={each} value={each} />
                ))}
            </datalist>
            {otherId && (
                <>
                    <span>
                        dashed: <a href={addressOf(runPage(otherId), new URLSearchParams())}>{title || otherId}</a>
                    </span>
                    <label>
                        later by{" "}
                        <input
                            type="number"
                            class="shift"
                            value={shift}
                            step="any"
                            onChange={(event) =>
                                change(
                                    { shift: Number(event.currentTarget.value) ? event.currentTarget.value : null },
                                    true,
                                )
                            }
                        />{" "}
                        ms
                    </label>
                    <button type="button" onClick={() => change({ with: null, shift: null })}>
                        take it off
                    </button>
                </>
            )}
            {problem && <span class="bad">{problem}</span>}
        </div>
    );
}

function bytesText(bytes: number): string {
    if (bytes < 1000) return `${bytes} bytes`;
    return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function Files({ facts, source }: { facts: RunFacts; source: RunSource }) {
    const [copied, setCopied] = useState("");
    const command = useRef<HTMLElement>(null);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(facts.command);
            setCopied("copied");
        } catch {
            if (command.current) getSelection()?.selectAllChildren(command.current);
            setCopied("selected: copy it with Ctrl and C");
        }
    };
    return (
        <section aria-labelledby="again">
            <h2 id="again">Again, and elsewhere</h2>
            <p>This command repeats the run:</p>
            <pre>
                <code ref={command}>{facts.command}</code>
            </pre>
            <p class="row">
                <button type="button" onClick={copy}>
                    copy the command
                </button>
                <span role="status">{copied}</span>
            </p>
            <ul class="files">
                {facts.files.map(({ name, bytes }) => {
                    const address =
                        facts.files_at === null
                            ? source.file(name)
                            : [...facts.files_at.split("/"), name].map(encodeURIComponent).join("/");
                    return (
                        <li key={name}>
                            {address ? (
                                <a href={address} download={name}>
                                    {name}
                                </a>
                            ) : (
                                name
                            )}{" "}
                            <span class="quiet">{bytesText(bytes)}</span>
                        </li>
                    );
                })}
            </ul>
            {facts.log && (
                <details>
                    <summary>the log of the run</summary>
                    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys */}
                    <section class="log" tabIndex={0} aria-label="Log of the run">
                        <pre>{facts.log}</pre>
                    </section>
                </details>
            )}
        </section>
    );
}
