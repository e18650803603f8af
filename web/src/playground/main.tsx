/** Playground: a scenario, its run in a worker, and the results. */

import "../ui/style.css";
import "./style.css";
import { render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Moment } from "../charts/timeline";
import { numberText, withShortNumbers } from "../data/numbers";
import { drawMarker } from "../ui/looks";
import { ThemeChoice, useInks } from "../ui/theme";
import type { Catalogue } from "./catalogue";
import { findScheme } from "./catalogue";
import { Controls } from "./controls";
import { Diagrams } from "./diagrams";
import { Engine, type EngineSpec, type Progress, script } from "./engine";
import { type Line, linesOf } from "./lines";
import { PRESETS, SCENARIOS } from "./presets";
import { QueuePicture } from "./queue";
import { addressOf, readAddress, type Scenario, valid } from "./scenario";
import { experimentFile, filesOf, linkRate, queuePackets, specification } from "./specification";

function App({ catalogue }: { catalogue: Catalogue }) {
    const first = useMemo(() => readAddress(location.hash, catalogue, SCENARIOS), [catalogue]);
    const [scenario, setScenario] = useState<Scenario>(first.scenario);
    const [preset, setPreset] = useState(first.preset || (location.hash.length < 2 ? PRESETS[0]!.name : ""));
    const [problems, setProblems] = useState(first.problems);
    const [progress, setProgress] = useState<Progress | null>(null);
    const [failure, setFailure] = useState("");
    const [own, setOwn] = useState<Record<string, string>>({});
    const moment = useMemo(() => new Moving(), []);
    const inks = useInks();

    const engine = useMemo(
        () =>
            new Engine(
                (next) => {
                    setProgress(next);
                    setFailure("");
                },
                (why) => setFailure(withShortNumbers(why)),
            ),
        [],
    );

    // Every change starts a new run.
    const missing = scenario.flows
        .map((flow) => findScheme(catalogue, flow.scheme))
        .filter((scheme) => scheme && scheme.needs.length > 0 && !own[scheme.name]);
    const waits = missing.length > 0;
    useLayoutEffect(() => {
        if (waits) {
            engine.stop();
            return;
        }
        const droppedFiles = scenario.flows.flatMap((flow) => own[flow.scheme] ?? []);
        const files = [...filesOf(scenario, catalogue), ...new Set(droppedFiles)];
        engine.run(specification(scenario, catalogue, own) as unknown as EngineSpec, files);
    }, [engine, scenario, catalogue, own, waits]);

    // The page writes the address and reads it. An address that the reader has just entered is read first.
    const lastHash = useRef(location.hash);
    useEffect(() => {
        const address = addressOf(scenario, preset, SCENARIOS);
        const timer = setTimeout(() => {
            if (address === location.hash || lastHash.current !== location.hash) return;
            history.replaceState(null, "", address);
            lastHash.current = address;
        }, 200);
        return () => clearTimeout(timer);
    }, [scenario, preset]);
    useEffect(() => {
        const listen = () => {
            lastHash.current = location.hash;
            const read = readAddress(location.hash, catalogue, SCENARIOS);
            setScenario(read.scenario);
            setPreset(read.preset);
            setProblems(read.problems);
        };
        addEventListener("hashchange", listen);
        return () => removeEventListener("hashchange", listen);
    }, [catalogue]);

    const change = useCallback(
        (part: Partial<Scenario>) => setScenario((before) => valid({ ...before, ...part }, catalogue)),
        [catalogue],
    );
    const drop = (scheme: string, file: File) => {
        void file.arrayBuffer().then((bytes) => {
            // Only letters, digits, `_`, `.` and `-`, since the name goes into file names and messages.
            const name = file.name.replaceAll(/[^\w.-]/g, "_").slice(-60) || "file";
            engine.put(name, bytes);
            setOwn((before) => ({ ...before, [scheme]: name }));
        });
    };

    const duration_ns = scenario.duration_s * 1e9;
    const lines = useSame(linesOf(scenario, catalogue, inks));
    // A moving slider redraws only itself until its run has data.
    const diagrams = useMemo(
        () => progress && <Diagrams {...{ engine, progress, lines, preset, moment }} />,
        [engine, progress, lines, preset, moment],
    );
    const presetOfPage = PRESETS.find((each) => each.name === preset);

    return (
        <>
            <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
                To the pictures
            </button>
            <header class="top">
                <h1>dumbbell playground</h1>
                <p class="quiet small tagline">
                    Congestion control in your browser: the simulator itself, and every built-in scheme.
                </p>
                <ThemeChoice />
            </header>
            <nav class="presets" aria-label="Presets">
                {PRESETS.map((each) => (
                    <button
                        key={each.name}
                        type="button"
                        aria-pressed={each.name === preset}
                        onClick={() => {
                            setPreset(each.name);
                            setScenario(valid(each.scenario, catalogue));
                            setProblems([]);
                        }}
                    >
                        {each.title}
                    </button>
                ))}
            </nav>
            <div class="playground">
                <aside aria-label="Scenario">
                    <details open={innerWidth >= 900}>
                        <summary>Scenario</summary>
                        <Controls
                            scenario={scenario}
                            catalogue={catalogue}
                            change={change}
                            fileNames={own}
                            drop={drop}
                        />
                    </details>
                </aside>
                <main id="content" tabIndex={-1}>
                    {problems.length > 0 && (
                        <ul class="bad" role="alert">
                            {problems.map((problem) => (
                                <li key={problem}>{problem}</li>
                            ))}
                        </ul>
                    )}
                    {presetOfPage && (
                        <article class="story">
                            <h2>{presetOfPage.title}</h2>
                            {presetOfPage.story.map((paragraph) => (
                                <p key={paragraph}>{paragraph}</p>
                            ))}
                            <p class="quiet small">
                                {presetOfPage.sources.length > 1 ? "Sources: " : "Source: "}
                                {presetOfPage.sources.map((source, index) => (
                                    <span key={source.address}>
                                        {index > 0 && "; "}
                                        <a href={source.address} rel="noreferrer">
                                            {source.text}
                                        </a>
                                    </span>
                                ))}
                                .
                            </p>
                        </article>
                    )}
                    {waits && (
                        <p class="bad" role="status">
                            {missing[0]?.title} needs a file of yours: choose it beside the flow.
                        </p>
                    )}
                    {failure && (
                        <p class="bad" role="alert">
                            {failure}
                        </p>
                    )}
                    <Legend lines={lines} inks={inks} />
                    <QueuePicture
                        engine={engine}
                        scenario={scenario}
                        rate_mbps={linkRate(scenario, catalogue)}
                        limit={queuePackets(scenario, catalogue)}
                        lines={lines}
                        inks={inks}
                        run={progress?.run ?? 0}
                        until_ns={progress?.now_ns ?? 0}
                        onMoment={moment.move}
                    />
                    {diagrams}
                    <Results progress={progress} duration_ns={duration_ns} lines={lines} stop={() => engine.stop()} />
                    <Downloads scenario={scenario} catalogue={catalogue} own={own} />
                    <About />
                </main>
            </div>
        </>
    );
}

/** Moment of the picture of packets, for a line in the diagrams. */
class Moving implements Moment {
    at_ns = 0;
    readonly #listeners = new Set<() => void>();

    readonly move = (at_ns: number): void => {
        this.at_ns = at_ns;
        for (const listener of this.#listeners) listener();
    };

    listen(listener: () => void): () => void {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
    }
}

/** Returns the previous object if the new one has equal content. */
function useSame<T>(value: T): T {
    const text = JSON.stringify(value);
    return useMemo(() => value, [text]);
}

function Legend({ lines, inks }: { lines: Line[]; inks: ReturnType<typeof useInks> }) {
    return (
        <ul class="legend" aria-label="Flows">
            {lines.map((line) => (
                <li key={line.flow}>
                    <Sample line={line} ground={inks.ground} />
                    {line.title}
                </li>
            ))}
        </ul>
    );
}

function Sample({ line, ground }: { line: Line; ground: string }) {
    const place = useRef<HTMLCanvasElement>(null);
    useEffect(() => {
        const element = place.current;
        const context = element?.getContext("2d");
        if (!element || !context) return;
        const ratio = devicePixelRatio || 1;
        element.width = 44 * ratio;
        element.height = 16 * ratio;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, 44, 16);
        context.strokeStyle = line.color;
        context.fillStyle = line.color;
        context.lineWidth = 2;
        context.setLineDash(line.dashes);
        context.beginPath();
        context.moveTo(0, 8);
        context.lineTo(44, 8);
        context.stroke();
        context.setLineDash([]);
        drawMarker(context, line.marker, 22, 8, 11);
    }, [line, ground]);
    return (
        <span aria-hidden="true">
            <canvas class="sample" ref={place} />
        </span>
    );
}

interface ResultsProps {
    progress: Progress | null;
    duration_ns: number;
    lines: Line[];
    stop: () => void;
}

function Results({ progress, duration_ns, lines, stop }: ResultsProps) {
    const totals = progress?.totals ?? null;
    if (!progress || !totals) {
        return (
            <section class="results">
                <h2>Results</h2>
                <p role="status">
                    <progress max={duration_ns} value={progress?.now_ns ?? 0} aria-label="How far the run is" />{" "}
                    {numberText((progress?.now_ns ?? 0) / 1e9, 1)} of {numberText(duration_ns / 1e9, 0)} s{" "}
                    <button type="button" onClick={stop}>
                        Stop
                    </button>
                </p>
            </section>
        );
    }
    const { flows, links, network } = totals.statistics;
    const [link] = links;
    const percent = (share: number | null) => (share === null ? "-" : `${numberText(share * 100, 2)} %`);
    return (
        <section class="results" aria-label="Results">
            <h2>Results</h2>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys */}
            <section class="scroll" aria-label="Results by flow" tabIndex={0}>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Flow</th>
                            <th scope="col" class="number">
                                Throughput, Mbit/s
                            </th>
                            <th scope="col" class="number">
                                Mean delay, ms
                            </th>
                            <th scope="col" class="number">
                                95 % below, ms
                            </th>
                            <th scope="col" class="number">
                                Lost
                            </th>
                            <th scope="col" class="number">
                                Sent again
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {flows.map((flow) => (
                            <tr key={flow.flow}>
                                <th scope="row">{lines[flow.flow - 1]?.title ?? flow.scheme}</th>
                                <td class="number">{numberText(flow.goodput_mbps, 2)}</td>
                                <td class="number">{numberText(flow.owd_mean_ms, 1)}</td>
                                <td class="number">{numberText(flow.owd_p95_ms, 1)}</td>
                                <td class="number">{percent(flow.packet_loss_rate)}</td>
                                <td class="number">{flow.retransmissions ?? "-"}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </section>
            <p>
                {link && (
                    <>
                        The link was used to {percent(link.utilization)}; packets waited{" "}
                        {numberText(link.mean_queue_delay_ms, 1)} ms on average; the queue dropped{" "}
                        {link.packets_dropped ?? 0}.{" "}
                    </>
                )}
                {flows.length > 1 &&
                    network.jain_index !== null &&
                    `Jain's index of fairness: ${numberText(network.jain_index, 3)} (1 is equal).`}
            </p>
            <p class="quiet small" role="status">
                {totals.records.toLocaleString("en")} packet events, computed in{" "}
                {numberText(progress.times?.simulated_ms ?? 0, 0)} ms; shown {numberText(progress.latency_ms, 0)} ms
                after the change. Throughput is of payload; the first sixth of the run does not count. Digest of all
                packet events: <code data-digest={totals.digest}>{totals.digest}</code>
            </p>
        </section>
    );
}

function Downloads({
    scenario,
    catalogue,
    own,
}: {
    scenario: Scenario;
    catalogue: Catalogue;
    own: Record<string, string>;
}) {
    const [copied, setCopied] = useState("");
    const save = () => {
        const text = experimentFile(scenario, catalogue, location.href, own);
        const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
        const link = document.createElement("a");
        link.href = address;
        link.download = "playground.toml";
        link.click();
        URL.revokeObjectURL(address);
    };
    const copy = () =>
        navigator.clipboard.writeText(location.href).then(
            () => setCopied("copied"),
            () => setCopied("copy it from the address bar"),
        );
    return (
        <section>
            <h2>Take it with you</h2>
            <p class="row">
                <button type="button" onClick={save}>
                    Download as TOML
                </button>
                <button type="button" onClick={copy}>
                    Copy the address
                </button>
                <span role="status">{copied}</span>
            </p>
            <p>
                The address of this page has the whole scenario. The file gives the same run, packet by packet, on your
                machine: <code>dumbbell run playground.toml --out results</code>
            </p>
        </section>
    );
}

function About() {
    return (
        <section class="quiet small">
            <h2>What this is</h2>
            <p>
                The simulator of dumbbell, compiled to WebAssembly: the same code as on the command line, and the same
                bytes. Nothing is sent anywhere; once loaded, the page works offline. Chromium runs it at more than half
                of native speed; Firefox is several times slower than Chromium, the results are the same.
            </p>
        </section>
    );
}

async function start(app: HTMLElement): Promise<void> {
    try {
        const response = await fetch("catalogue.json");
        if (!response.ok) throw new Error(`catalogue.json: ${response.status} ${response.statusText}`);
        const catalogue = (await response.json()) as Catalogue;
        app.replaceChildren();
        render(<App catalogue={catalogue} />, app);
    } catch (error) {
        app.textContent = `The playground cannot start: ${error instanceof Error ? error.message : String(error)}`;
    }
}

const app = document.getElementById("app");
if (app) void start(app);
// Without a secure connection there is no service worker. The page then works only while it is open.
if ("serviceWorker" in navigator)
    navigator.serviceWorker.register(script("offline.js"), { type: "module" }).catch(() => {});
