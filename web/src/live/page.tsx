/** Live view: the number of finished runs, and charts of each active run. */

import "./live.css";
import { useState } from "preact/hooks";
import type { RunsFacts, SchemeLook } from "../data/source";
import { freeLook, onGround } from "../ui/looks";
import { type Inks, useInks } from "../ui/theme";
import { format, type LineLook, LiveChart } from "./chart";
import {
    type LiveFlow,
    type LiveRun,
    namedValue,
    type Progress,
    SHOWN_S,
    type Track,
    toDisplayUnit,
    useFeed,
} from "./feed";

/** Series that are drawn, with their units. A field of the sender has its own unit. */
const CHARTS = [
    { name: "rate", title: "Delivered", unit: "Mbit/s" },
    { name: "sent", title: "Sent", unit: "Mbit/s" },
    { name: "delay", title: "One-way delay, p95", unit: "ms" },
    { name: "queue", title: "Queue", unit: "packets" },
    { name: "srtt", title: "Smoothed RTT", unit: "ms" },
    { name: "cwnd", title: "Congestion window", unit: "" },
    { name: "in_flight", title: "In flight", unit: "" },
    { name: "pacing_rate", title: "Pacing rate", unit: "" },
];
/** Fields that have their own columns, or mean little without their history. */
const NOT_STATE = new Set(["cwnd", "in_flight", "srtt", "pacing_rate", "delivered", "delivery_rate"]);
const MOST_NOW = 8;

export function LivePage({ facts }: { facts: RunsFacts }) {
    const { progress, tracks, connected, ended } = useFeed();
    const inks = useInks();
    const [frozen, setFrozen] = useState<Track[] | null>(null);
    const visibleTracks = frozen ?? tracks;
    return (
        <>
            <div class="row">
                <h1>Live</h1>
                <button
                    type="button"
                    aria-pressed={frozen !== null}
                    onClick={() => setFrozen(frozen ? null : tracks.map((each) => each.copy()))}
                >
                    {frozen ? "Go on" : "Pause"}
                </button>
                {ended ? (
                    <span role="status">
                        The command has ended: <code>dumbbell serve</code> shows its results.
                    </span>
                ) : (
                    !connected && (
                        <span class="bad" role="status">
                            The server does not answer.
                        </span>
                    )
                )}
            </div>
            {progress && progress.total > 0 && <RunsProgress progress={progress} />}
            {visibleTracks.length === 0 && (
                <p class="quiet">
                    {progress?.running
                        ? "Runs with real packets (emulated, or between two machines) are drawn here while they go on. Simulated ones are over faster than they could be watched."
                        : "Nothing is running."}
                </p>
            )}
            {visibleTracks.map((track) => (
                <RunLive
                    key={`${track.now.key} ${track.now.label}`}
                    track={track}
                    schemes={facts.schemes}
                    inks={inks}
                    ended={ended}
                />
            ))}
        </>
    );
}

function RunsProgress({ progress }: { progress: Progress }) {
    const { done, total, failed, now } = progress;
    const more = now.length - MOST_NOW;
    return (
        <section aria-label="Runs">
            <p>
                <progress max={total} value={done} aria-label="Runs that are made" />{" "}
                <span role="status">
                    {done} of {total} runs are made{failed > 0 && `, ${failed} of them failed`}
                </span>
            </p>
            {now.length > 0 && (
                <p class="quiet live-now">
                    now: {now.slice(0, MOST_NOW).join("; ")}
                    {more > 0 && `; and ${more} more`}
                </p>
            )}
        </section>
    );
}

interface RunProps {
    track: Track;
    schemes: Record<string, SchemeLook>;
    inks: Inks;
    /** True if the server has ended. */
    ended: boolean;
}

function RunLive({ track, schemes, inks, ended }: RunProps) {
    const { now } = track;
    const { at_s } = now;
    const looks = lineLooks(now, schemes, inks);
    const charts = CHARTS.map((chart) => ({ ...chart, lines: track.lines(chart.name) })).filter(({ name, lines }) =>
        name === "sent" ? track.lines("rate").length === 0 && lines.length > 0 : lines.length > 0,
    );
    return (
        <section class="live-run" aria-label={now.label || "Path"}>
            <h2>{now.label || "The path"}</h2>
            <p class="quiet">
                {track.over ? "over" : `${at_s.toFixed(1)} s`}
                {now.duration_s !== null && ` of ${format(now.duration_s)} s`}
                {now.attempt > 1 && `, attempt ${now.attempt}: the machine was too busy before`}
                {track.over && now.id && !ended && (
                    <>
                        {" · "}
                        <a href={`#/run/${now.id.split("/").map(encodeURIComponent).join("/")}`}>the finished run</a>
                    </>
                )}
            </p>
            <FlowTable track={track} looks={looks} />
            <States flows={now.flows} looks={looks} />
            <div class="live-charts">
                {charts.map(({ name, title, unit, lines }) => (
                    <LiveChart
                        key={name}
                        title={title}
                        unit={unit || unitOf(now.flows, name)}
                        times={track.times}
                        lines={lines}
                        looks={looks}
                        end_s={at_s}
                        length_s={Math.min(SHOWN_S, now.duration_s ?? SHOWN_S)}
                        inks={inks}
                    />
                ))}
            </div>
            {now.links.length > 0 && <LinkTable track={track} />}
        </section>
    );
}

/** Returns the look of each line. Flows have the colours of their schemes if all schemes differ. */
function lineLooks(
    { flows, links: shown }: LiveRun,
    schemes: Record<string, SchemeLook>,
    inks: Inks,
): (key: string) => LineLook {
    const links = shown.map((link) => link.name);
    const differ = new Set(flows.map((flow) => flow.scheme)).size === flows.length;
    return (key) => {
        const index = flows.findIndex((flow) => `flow ${flow.flow}` === key);
        const flow = flows[index];
        if (!flow) {
            const link = Math.max(links.indexOf(key), 0);
            return { label: key, color: inks.quiet, dashes: freeLook(link * 6).dashes };
        }
        const schemeLook = differ ? schemes[flow.scheme] : undefined;
        const { color } = schemeLook ?? freeLook(index);
        const { dashes } = freeLook(index * 6); // all lines differ without colour too
        return { label: `${flow.scheme} ${flow.flow}`, color: onGround(color, inks.dark), dashes };
    };
}

function unitOf(flows: LiveFlow[], name: string): string {
    for (const flow of flows) for (const value of flow.state) if (value.name === name) return toDisplayUnit(value).unit;
    return "";
}

function FlowTable({ track, looks }: { track: Track; looks: (key: string) => LineLook }) {
    const { flows } = track.now;
    const hasModes = flows.some(modesText);
    const tableRows = [
        { title: "Mbit/s", of: (key: string) => track.last("rate", key) ?? track.last("sent", key) },
        { title: "delay p95 ms", of: (key: string) => track.last("delay", key) },
        ...["cwnd", "in_flight", "pacing_rate", "srtt"]
            .filter((name) => track.lines(name).length > 0)
            .map((name) => ({
                title: `${name.replace("_", " ")} ${unitOf(flows, name)}`,
                of: (key: string) => track.last(name, key),
            })),
    ];
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it
        <section class="scroll" aria-label="Flows" tabIndex={0}>
            <table>
                <caption class="hidden">Flows</caption>
                <thead>
                    <tr>
                        <th scope="col">flow</th>
                        {tableRows.map(({ title }) => (
                            <th key={title} scope="col" class="number">
                                {title}
                            </th>
                        ))}
                        {hasModes && <th scope="col">state</th>}
                    </tr>
                </thead>
                <tbody>
                    {flows.map((flow) => {
                        const key = `flow ${flow.flow}`;
                        const { label, color, dashes } = looks(key);
                        return (
                            <tr key={key}>
                                <th scope="row" class="live-name">
                                    <svg width="24" height="8" aria-hidden="true">
                                        <line
                                            x1="0"
                                            y1="4"
                                            x2="24"
                                            y2="4"
                                            stroke={color}
                                            stroke-width="3"
                                            stroke-dasharray={dashes.join(" ")}
                                        />
                                    </svg>{" "}
                                    {label}
                                </th>
                                {tableRows.map(({ title, of }) => (
                                    <td key={title} class="number">
                                        {format(of(key))}
                                    </td>
                                ))}
                                {hasModes && <td class="live-name">{modesText(flow)}</td>}
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </section>
    );
}

/** Returns the named modes of a sender as text. */
function modesText(flow: LiveFlow): string {
    const modes = flow.state.map((each) => [each.name.replaceAll("_", " "), namedValue(each)]);
    return modes
        .filter(([, name]) => name)
        .map((each) => each.join(": "))
        .join(", ");
}

/** Returns the state of a sender as text, without the modes. */
function stateText(flow: LiveFlow): string {
    return flow.state
        .filter((each) => !NOT_STATE.has(each.name) && !namedValue(each))
        .map(toDisplayUnit)
        .map(({ name, value, unit }) => `${name.replaceAll("_", " ")} ${format(value)} ${unit}`.trim())
        .join(", ");
}

function States({ flows, looks }: { flows: LiveFlow[]; looks: (key: string) => LineLook }) {
    if (flows.every((flow) => !stateText(flow))) return null;
    return (
        <details>
            <summary>More of what the senders know</summary>
            <ul>
                {flows.map((flow) => (
                    <li key={flow.flow}>
                        {looks(`flow ${flow.flow}`).label}: {stateText(flow)}
                    </li>
                ))}
            </ul>
        </details>
    );
}

function LinkTable({ track }: { track: Track }) {
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it
        <section class="scroll" aria-label="Links" tabIndex={0}>
            <table>
                <caption class="hidden">Links of the path</caption>
                <thead>
                    <tr>
                        <th scope="col">link</th>
                        <th scope="col" class="number">
                            queue packets
                        </th>
                        <th scope="col" class="number">
                            queue kB
                        </th>
                        <th scope="col" class="number">
                            dropped
                        </th>
                        <th scope="col" class="number">
                            marked
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {track.now.links.map((link) => (
                        <tr key={link.name}>
                            <th scope="row">{link.name}</th>
                            <td class="number">{link.queue_packets}</td>
                            <td class="number">{format(link.queue_bytes / 1e3)}</td>
                            <td class="number">{link.dropped_packets}</td>
                            <td class="number">{link.marked_packets}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}
