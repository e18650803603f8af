/** Controls of the scenario. */

import { useRef, useState } from "preact/hooks";
import type { Catalogue, Scheme } from "./catalogue";
import { findScheme } from "./catalogue";
import { type Flow, limitsOf, MOST_FLOWS, type Quantity, type Scenario, short, UNITS, type Unit } from "./scenario";

type Change = (change: Partial<Scenario>) => void;

const STEPS = 1000;

interface SliderProps {
    name: Quantity;
    title: string;
    unit: string;
    scenario: Scenario;
    change: Change;
    max?: number;
    step?: number;
    help?: string;
}

/** Slider with an input field for the number. */
function Slider({ name, title, unit, scenario, change, max, step, help }: SliderProps) {
    const quantityLimits = limitsOf(name, scenario.unit);
    const limits = max === undefined ? quantityLimits : { ...quantityLimits, max };
    const value = scenario[name];
    const { least, log } = limits;
    const toPlace = (number: number) =>
        log
            ? (STEPS * Math.log(number / least)) / Math.log(limits.max / least)
            : (STEPS * (number - least)) / (limits.max - least);
    const ofPlace = (place: number) => {
        const part = place / STEPS;
        const number = log ? least * (limits.max / least) ** part : least + (limits.max - least) * part;
        return step ? Math.round(number / step) * step : short(number);
    };
    const set = (number: number) => {
        if (Number.isFinite(number))
            change({ [name]: Math.min(quantityLimits.max, Math.max(least, Number(number.toFixed(4)))) });
    };
    const id = `setting-${name}`;
    return (
        <div class="slider">
            <label for={id}>{title}</label>
            <span class="value">
                <input
                    type="number"
                    aria-label={`${title}, ${unit}`}
                    min={least}
                    max={quantityLimits.max}
                    step="any"
                    value={value}
                    onChange={(event) => set(event.currentTarget.valueAsNumber)}
                />
                <span class="quiet">{unit}</span>
            </span>
            <input
                id={id}
                type="range"
                min={0}
                max={STEPS}
                step={1}
                value={Math.min(STEPS, Math.max(0, toPlace(value)))}
                aria-valuetext={`${value} ${unit}`}
                aria-describedby={help ? `${id}-help` : undefined}
                onInput={(event) => set(ofPlace(event.currentTarget.valueAsNumber))}
                onKeyDown={(event) => {
                    // An arrow key moves one visible step; two hundred steps are the whole range.
                    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[
                        event.key
                    ];
                    if (by === undefined) return;
                    event.preventDefault();
                    set(ofPlace(Math.min(STEPS, Math.max(0, toPlace(value) + (by * STEPS) / 200))));
                }}
            />
            {help && (
                <p class="quiet small" id={`${id}-help`}>
                    {help}
                </p>
            )}
        </div>
    );
}

interface Files {
    /** Names of dropped files, by scheme. */
    fileNames: Record<string, string>;
    drop: (scheme: string, file: File) => void;
}

interface Props extends Files {
    scenario: Scenario;
    catalogue: Catalogue;
    change: Change;
}

export function Controls({ scenario, catalogue, change, fileNames, drop }: Props) {
    const isCellular = scenario.link !== "fixed";
    const unitTitles: Record<Unit, string> = { bdp: "BDP", packets: "packets", ms: "ms", unlimited: "no limit" };
    return (
        <div class="controls">
            <Flows scenario={scenario} catalogue={catalogue} change={change} fileNames={fileNames} drop={drop} />
            <fieldset>
                <legend>Path</legend>
                <label class="line">
                    <span>Link</span>
                    <select value={scenario.link} onChange={(event) => change({ link: event.currentTarget.value })}>
                        <option value="fixed">constant rate</option>
                        <optgroup label="cellular, changing at random">
                            {catalogue.cellular.map((each) => (
                                <option key={each.name} value={each.name}>
                                    {each.title}
                                </option>
                            ))}
                        </optgroup>
                    </select>
                </label>
                {isCellular ? (
                    <p class="quiet small">
                        On average{" "}
                        {String(catalogue.cellular.find((each) => each.name === scenario.link)?.data[0]?.mean_mbps)}{" "}
                        Mbit/s, with outages.
                    </p>
                ) : (
                    <Slider name="rate_mbps" title="Rate" unit="Mbit/s" scenario={scenario} change={change} />
                )}
                <Slider name="rtt_ms" title="Round-trip time" unit="ms" scenario={scenario} change={change} />
                <label class="line">
                    <span>Buffer in</span>
                    <select
                        value={scenario.unit}
                        onChange={(event) => {
                            const unit = UNITS.find((each) => each === event.currentTarget.value) ?? "bdp";
                            change({ unit, buffer: { bdp: 1, packets: 100, ms: 50, unlimited: 1 }[unit] });
                        }}
                    >
                        {UNITS.map((unit) => (
                            <option key={unit} value={unit}>
                                {unitTitles[unit]}
                            </option>
                        ))}
                    </select>
                </label>
                {scenario.unit !== "unlimited" && (
                    <Slider
                        name="buffer"
                        title="Buffer"
                        unit={unitTitles[scenario.unit]}
                        scenario={scenario}
                        change={change}
                    />
                )}
                <label class="line">
                    <span>Queue</span>
                    <select value={scenario.queue} onChange={(event) => change({ queue: event.currentTarget.value })}>
                        {catalogue.queues.map(({ name }) => (
                            <option key={name} value={name}>
                                {name === "fifo" ? "first in, first out" : name.replace("-ecn", " with ECN")}
                            </option>
                        ))}
                    </select>
                </label>
                <Slider
                    name="loss_percent"
                    title="Random loss"
                    unit="%"
                    scenario={scenario}
                    change={change}
                    max={5}
                    step={0.05}
                />
                <Slider
                    name="jitter_ms"
                    title="Jitter"
                    unit="ms"
                    scenario={scenario}
                    change={change}
                    max={Math.max(1, Math.min(50, scenario.rtt_ms / 2))}
                    step={0.1}
                />
                <Slider
                    name="slot_ms"
                    title="Delivery in slots of"
                    unit="ms"
                    scenario={scenario}
                    change={change}
                    step={0.5}
                />
                <Slider
                    name="cross_mbps"
                    title="Cross traffic"
                    unit="Mbit/s"
                    scenario={scenario}
                    change={change}
                    max={Math.max(1, scenario.rate_mbps)}
                    step={0.1}
                    help="UDP at a constant rate, which heeds nothing."
                />
            </fieldset>
            <fieldset>
                <legend>Run</legend>
                <Slider name="duration_s" title="Duration" unit="s" scenario={scenario} change={change} />
                <Slider name="seed" title="Seed" unit="" scenario={scenario} change={change} step={1} />
                <Slider
                    name="faster_ms"
                    title="Flow 1 is faster at first by"
                    unit="ms"
                    scenario={scenario}
                    change={change}
                    max={Math.max(0.1, Math.min(10, scenario.rtt_ms / 4))}
                    step={0.1}
                    help="In its first 0.1 s: a wrong idea of the path's delay."
                />
            </fieldset>
        </div>
    );
}

function Flows({ scenario, catalogue, change, fileNames, drop }: Props) {
    const set = (index: number, part: Partial<Flow>) =>
        change({ flows: scenario.flows.map((flow, each) => (each === index ? { ...flow, ...part } : flow)) });
    const add = () => {
        const last = scenario.flows.at(-1)!;
        const start_s = Number(Math.min(last.start_s + scenario.duration_s / 5, scenario.duration_s * 0.8).toFixed(1));
        change({ flows: [...scenario.flows, { ...last, start_s, stop_s: null }] });
    };
    return (
        <fieldset>
            <legend>Flows</legend>
            {scenario.flows.map((flow, index) => (
                <div class="flow" key={index}>
                    <div class="row">
                        <b aria-hidden="true">{index + 1}</b>
                        <SchemeChoice
                            number={index + 1}
                            value={flow.scheme}
                            catalogue={catalogue}
                            own={fileNames}
                            choose={(scheme) => set(index, { scheme })}
                        />
                        <button
                            type="button"
                            aria-label={`Remove flow ${index + 1}`}
                            disabled={scenario.flows.length === 1}
                            onClick={() => change({ flows: scenario.flows.filter((_, each) => each !== index) })}
                        >
                            ×
                        </button>
                    </div>
                    <div class="row times">
                        <TimeInput
                            title={`from, s`}
                            label={`Flow ${index + 1} starts at, s`}
                            value={flow.start_s}
                            set={(value) => set(index, { start_s: value ?? 0 })}
                        />
                        <TimeInput
                            title="to, s"
                            label={`Flow ${index + 1} stops at, s; empty: at the end`}
                            value={flow.stop_s}
                            set={(value) => set(index, { stop_s: value })}
                        />
                        <TimeInput
                            title="RTT, ms"
                            label={`Round-trip time of flow ${index + 1}, ms; empty: the path's`}
                            value={flow.rtt_ms}
                            set={(value) => set(index, { rtt_ms: value })}
                        />
                    </div>
                    <OwnFile scheme={findScheme(catalogue, flow.scheme)} fileNames={fileNames} drop={drop} />
                    <p class="quiet small">{findScheme(catalogue, flow.scheme)?.summary.replaceAll("`", "")}</p>
                </div>
            ))}
            <button type="button" onClick={add} disabled={scenario.flows.length >= MOST_FLOWS}>
                Add a flow
            </button>
        </fieldset>
    );
}

interface TimeProps {
    title: string;
    label: string;
    value: number | null;
    set: (value: number | null) => void;
}

function TimeInput({ title, label, value, set }: TimeProps) {
    return (
        <label>
            <span class="quiet small" aria-hidden="true">
                {title}
            </span>
            <input
                type="number"
                aria-label={label}
                min={0}
                step="any"
                value={value ?? ""}
                onChange={(event) => {
                    const number = event.currentTarget.valueAsNumber;
                    set(Number.isFinite(number) && number >= 0 ? Number(number.toFixed(3)) : null);
                }}
            />
        </label>
    );
}

interface ChoiceProps {
    number: number;
    value: string;
    catalogue: Catalogue;
    own: Record<string, string>;
    choose: (scheme: string) => void;
}

function SchemeChoice({ number, value, catalogue, own, choose }: ChoiceProps) {
    return (
        <select
            class="grow"
            aria-label={`Scheme of flow ${number}`}
            value={value}
            onChange={(event) => choose(event.currentTarget.value)}
        >
            {Object.entries(catalogue.families).map(([family, title]) => (
                <optgroup key={family} label={title}>
                    {catalogue.schemes
                        .filter((scheme) => scheme.family === family)
                        .map((scheme) => (
                            <option key={scheme.name} value={scheme.name}>
                                {scheme.title}
                                {scheme.title.toLowerCase() === scheme.name ? "" : ` (${scheme.name})`}
                                {scheme.needs.length > 0 && !own[scheme.name] ? ": needs a file" : ""}
                            </option>
                        ))}
                </optgroup>
            ))}
        </select>
    );
}

/** Area to drop or choose a file. The file stays in this browser. */
function OwnFile({ scheme, fileNames, drop }: { scheme: Scheme | undefined } & Files) {
    const input = useRef<HTMLInputElement>(null);
    const [isOver, setOver] = useState(false);
    if (!scheme || scheme.needs.length === 0) return null;
    const take = (files: FileList | null | undefined) => {
        const file = files?.[0];
        if (file) drop(scheme.name, file);
    };
    return (
        // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same
        <div
            class={`drop ${isOver ? "over" : ""}`}
            onDragOver={(event) => {
                event.preventDefault();
                setOver(true);
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
                event.preventDefault();
                setOver(false);
                take(event.dataTransfer?.files);
            }}
        >
            <button type="button" onClick={() => input.current?.click()}>
                {fileNames[scheme.name] ? "Another file" : `Choose its ${scheme.needs[0]}`}
            </button>{" "}
            <span class="small">
                {fileNames[scheme.name] ?? "or drop the file here. It does not leave this browser."}
            </span>
            <input
                ref={input}
                type="file"
                class="hidden"
                tabIndex={-1}
                aria-label={`File of ${scheme.title}`}
                onChange={(event) => take(event.currentTarget.files)}
            />
        </div>
    );
}
