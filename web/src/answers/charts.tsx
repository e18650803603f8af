/** Charts of one kind: one for each path, or for each panel of a sweep. */

import type { Runs } from "../data/runs";
import type { Field, Findings } from "../data/source";
import { counted } from "../data/words";
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
    /** Filters of the address, which links to the table keep. */
    entries: readonly string[];
    /** Metrics that the tip of a run has. */
    shown: readonly Field[];
    most?: number;
    findings: Findings;
    /** The charts say no sentences: findings above them do, or are not here yet. */
    isAnswered: boolean;
}) {
    const { chart, runs, facets, metric, along, looks, entries, shown, most = MOST_FACETS, isAnswered } = props;
    // the server judges the conduct of so many runs only
    const isJudged = isAnswered || facets.every(({ directory }) => props.findings[directory]);
    const unjudged = !isJudged && <p class="quiet">There are too many runs to judge the conduct of their flows.</p>;
    if (chart === "sweep")
        return (
            along && (
                <>
                    <Sweeps
                        {...{ runs, metric, looks, entries, most, isAnswered }}
                        findings={props.findings}
                        rows={props.rows}
                        axes={props.axes}
                        x={along}
                        y={props.over}
                    />
                    {unjudged}
                </>
            )
        );
    return (
        <>
            <div class="facets">
                {facets.slice(0, most).map((facet) => {
                    const key = `${facet.directory}/${facet.path}`;
                    if (chart === "plane")
                        return (
                            <Plane
                                key={key}
                                {...{ runs, facet, looks, entries, shown, isAnswered }}
                                x={props.x}
                                y={props.y}
                            />
                        );
                    if (chart === "bars")
                        return <Bars key={key} {...{ runs, facet, metric, looks, entries, isAnswered }} />;
                    if (chart === "ecdf")
                        return <Ecdf key={key} {...{ runs, facet, metric, looks, shown, isAnswered }} />;
                    return <Shares key={key} {...{ runs, facet, entries, isAnswered }} />;
                })}
            </div>
            {facets.length > most && (
                <p>
                    {most} of {counted(facets.length, "path")} are drawn: filter for others.
                </p>
            )}
            {unjudged}
        </>
    );
}
