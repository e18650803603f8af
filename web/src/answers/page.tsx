/** Charts that answer a question: the title asks, a sentence answers, and a table has the numbers. */

import "./answers.css";
import { useMemo } from "preact/hooks";
import { useFindings } from "../data/findings";
import type { Runs } from "../data/runs";
import type { Field, RunsFacts } from "../data/source";
import { useQuery } from "../data/state";
import { countText, inSentence } from "../data/words";
import { CONVENTION, ConventionChoice, FieldOptions, FilterBar, useChosen, useRuns } from "../ui/filters";
import { Legend, lookOf } from "../ui/plot";
import { useInks } from "../ui/theme";
import { type Chart, Charts } from "./charts";
import { facetsOf, isMix } from "./facets";
import { shareFields } from "./shares";
import { axesOf } from "./sweep";

const CHARTS: { chart: Chart; title: string }[] = [
    { chart: "plane", title: "Plane" },
    { chart: "bars", title: "Bars" },
    { chart: "ecdf", title: "Distributions" },
    { chart: "sweep", title: "Sweeps" },
    { chart: "shares", title: "Shares" },
];

function metricsOf(runs: Runs): Field[] {
    return runs.facts.fields.filter(
        (field) => field.kind === "number" && field.group !== "run" && field.group !== "axis",
    );
}

export function AnswersPage({ facts }: { facts: RunsFacts }) {
    const runs = useRuns(facts);
    const findings = useFindings(runs);
    const { dark } = useInks();
    const [query, change] = useQuery();
    const metrics = useMemo(() => metricsOf(runs), [runs]);
    const axisNames = useMemo(
        () => facts.fields.filter(({ group }) => group === "axis").map(({ name }) => name),
        [facts],
    );
    const convention = query.get("convention") ?? CONVENTION;
    const usual = runs.mainOf(convention);
    const field = (name: string, other: string | undefined) =>
        metrics.find((each) => each.name === query.get(name)) ??
        metrics.find((each) => each.name === other) ??
        metrics[0];
    const [x, y, metric] = [field("x", usual[1]?.name), field("y", usual[0]?.name), field("metric", usual[0]?.name)];
    const hasMixes = facts.fields.some(({ name }) => name.startsWith("share:"));
    const chart = CHARTS.find((each) => each.chart === query.get("chart"))?.chart ?? "plane";
    const shares = chart === "shares" ? shareFields(runs) : [];
    const columnNames = [x, y, metric, ...usual].flatMap((each) => (each ? [each.name] : []));
    const selection = useChosen(runs, [...columnNames, ...axisNames, ...shares, "seed"]);
    const { rows, ready, age } = selection;
    const facets = useMemo(
        () => (ready ? facetsOf(runs, rows, findings ?? {}) : []),
        [runs, rows, ready, age, findings],
    );
    const axes = useMemo(() => (ready ? axesOf(runs, rows) : []), [runs, rows, ready, age]);
    const along =
        axes.find(({ name }) => name === query.get("along")) ?? axes.find(({ kind }) => kind === "number") ?? axes[0];
    const over = axes.find(({ name }) => name === query.get("over") && name !== along?.name) ?? null;
    const schemes = useMemo(
        () => [...new Set(facets.flatMap((facet) => facet.schemes.map(({ scheme }) => scheme)))],
        [facets],
    );
    const looks = (scheme: string) => lookOf(facts.schemes, scheme, dark);
    const tipFields = [...new Set([...(y ? [y] : []), ...(x ? [x] : []), ...usual, ...(metric ? [metric] : [])])];
    const metricChoice = (name: string, title: string, value: Field | undefined) => (
        <label>
            {title}{" "}
            <select value={value?.name} onChange={(event) => change({ [name]: event.currentTarget.value })}>
                <FieldOptions fields={metrics} />
            </select>
        </label>
    );
    const available = CHARTS.filter(
        (each) => (each.chart !== "sweep" || axisNames.length > 0) && (each.chart !== "shares" || hasMixes),
    );
    const chartProps =
        chart === "shares" ? facets.filter((facet) => facet.schemes.some(({ scheme }) => isMix(scheme))) : facets;
    return (
        <>
            <FilterBar runs={runs} chosen={selection} />
            <div class="row tools">
                <fieldset class="switch">
                    <legend class="hidden">Chart</legend>
                    {available.map((each) => (
                        <button
                            key={each.chart}
                            type="button"
                            aria-pressed={chart === each.chart}
                            onClick={() => change({ chart: each.chart })}
                        >
                            {each.title}
                        </button>
                    ))}
                </fieldset>
                {chart === "plane" && metricChoice("y", "Up", y)}
                {chart === "plane" && metricChoice("x", "Across", x)}
                {(chart === "bars" || chart === "ecdf" || chart === "sweep") &&
                    metricChoice("metric", "Metric", metric)}
                {chart === "sweep" && along && (
                    <>
                        <AxisChoice
                            title="Along"
                            axes={axes}
                            value={along.name}
                            change={(name) => change({ along: name })}
                        />
                        <AxisChoice
                            title="and"
                            axes={axes.filter((each) => each !== along)}
                            value={over?.name ?? ""}
                            none
                            change={(name) => change({ over: name || null })}
                        />
                    </>
                )}
                <ConventionChoice
                    facts={facts}
                    value={convention}
                    change={(name) => change({ convention: name, x: null, y: null, metric: null })}
                />
                <span class="count quiet" role="status">
                    {ready
                        ? `${countText(rows.length, "run")} on ${countText(new Set(facets.map(({ path }) => path)).size, "path")}`
                        : "Reading…"}
                </span>
            </div>
            {x && y && metric && (
                <>
                    <h1>{question(chart, x, y, metric, along, over)}</h1>
                    {chart !== "shares" && <Legend schemes={schemes} looks={looks} />}
                    {ready && rows.length === 0 && <p>No run passes these filters.</p>}
                    {chart === "plane" && (
                        <p class="quiet foot">
                            A faint point is a run, a large one the mean of a scheme, an ellipse one standard deviation
                            of its runs. A ring marks the front: no other scheme beats it in both. Drag over runs to
                            choose them; a click on one opens it.
                        </p>
                    )}
                    {chart === "sweep" && !along ? (
                        ready && <p>None of the axes of these runs has several values.</p>
                    ) : (
                        <Charts
                            {...{
                                chart,
                                runs,
                                rows,
                                facets: chartProps,
                                axes,
                                x,
                                y,
                                metric,
                                over,
                                looks,
                                tipFields,
                            }}
                            along={along ?? null}
                            entries={selection.entries}
                            findings={findings ?? {}}
                            isAnswered={findings === null}
                        />
                    )}
                    {chart === "shares" && ready && chartProps.length === 0 && (
                        <p>None of these runs has flows of two schemes, such as those of the mix cubic+bbr.</p>
                    )}
                </>
            )}
        </>
    );
}

function adjectiveOf(field: Field): string {
    return field.better === "less" ? "little" : field.better === "more" ? "much" : "which";
}

function question(
    chart: Chart,
    x: Field,
    y: Field,
    metric: Field,
    along: Field | undefined,
    over: Field | null,
): string {
    const title = (field: Field) => inSentence(field.title);
    switch (chart) {
        case "bars":
            return `How much ${title(metric)} has each scheme?`;
        case "ecdf":
            return `How does ${title(metric)} vary from run to run?`;
        case "sweep":
            return along
                ? `How does ${title(metric)} change with ${along.title}${over ? ` and ${over.title}` : ""}?`
                : "Sweeps";
        case "shares":
            return "Who gets what beside whom?";
        default:
            return `Who has ${adjectiveOf(y)} ${title(y)} and ${adjectiveOf(x)} ${title(x)}?`;
    }
}

function AxisChoice(props: {
    title: string;
    axes: readonly Field[];
    value: string;
    none?: boolean;
    change: (name: string) => void;
}) {
    return (
        <label>
            {props.title}{" "}
            <select value={props.value} onChange={(event) => props.change(event.currentTarget.value)}>
                {props.none && <option value="">nothing else</option>}
                {props.axes.map((axis) => (
                    <option key={axis.name} value={axis.name}>
                        {axis.title}
                    </option>
                ))}
            </select>
        </label>
    );
}
