/** Charts of one kind: one per path, or one per panel of a sweep. */

import type { Runs } from "../data/runs";
import type { Field, Findings } from "../data/source";
import { countText } from "../data/words";
import type { Look } from "../ui/plot";
import { Bars } from "./bars";
import { Ecdf } from "./ecdf";
import { type Facet, MOST_FACETS } from "./facets";
import { Plane } from "./plane";
import { Shares } from "./shares";
import { Sweeps } from "./sweep";

export type Chart = "plane" | "bars" | "ecdf" | "sweep" | "shares";

export function Charts(props: {
    chart: Chart;
    runs: Runs;
    rows: Uint32Array;
    facets: readonly Facet[];
    axes: readonly Field[];
    x: Field;
    y: Field;
    metric: Field;
    /** Axes of a sweep. */
    along: Field | null;
    over: Field | null;
    looks: (scheme: string) => Look;
    /** Filters in the page address. The link to the table of runs keeps them. */
    entries: readonly string[];
    /** Metrics in the tooltip of a run. */
    tipFields: readonly Field[];
    maxRows?: number;
    findings: Findings;
    /** True if the page shows findings or has not loaded them yet. The charts then show no sentences. */
    isAnswered: boolean;
}) {
    const { chart, runs, facets, metric, along, looks, entries, tipFields, maxRows = MOST_FACETS, isAnswered } = props;
    // The server judges the conduct of flows only up to a limit of runs.
    const hasAllFindings = isAnswered || facets.every(({ directory }) => props.findings[directory]);
    const conductNote = !hasAllFindings && (
        <p class="quiet">There are too many runs to judge the conduct of their flows.</p>
    );
    if (chart === "sweep")
        return (
            along && (
                <>
                    <Sweeps
                        {...{ runs, metric, looks, entries, most: maxRows, isAnswered }}
                        findings={props.findings}
                        rows={props.rows}
                        axes={props.axes}
                        x={along}
                        y={props.over}
                    />
                    {conductNote}
                </>
            )
        );
    return (
        <>
            <div class="facets">
                {facets.slice(0, maxRows).map((facet) => {
                    const key = `${facet.directory}/${facet.path}`;
                    if (chart === "plane")
                        return (
                            <Plane
                                key={key}
                                {...{ runs, facet, looks, entries, tipFields, isAnswered }}
                                x={props.x}
                                y={props.y}
                            />
                        );
                    if (chart === "bars")
                        return <Bars key={key} {...{ runs, facet, metric, looks, entries, isAnswered }} />;
                    if (chart === "ecdf")
                        return <Ecdf key={key} {...{ runs, facet, metric, looks, tipFields, isAnswered }} />;
                    return <Shares key={key} {...{ runs, facet, entries, isAnswered }} />;
                })}
            </div>
            {facets.length > maxRows && (
                <p>
                    {maxRows} of {countText(facets.length, "path")} are drawn: filter for others.
                </p>
            )}
            {conductNote}
        </>
    );
}
