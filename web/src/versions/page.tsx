/** Comparison of versions: results of several versions or dates side by side, and significant changes. */

import { Scrolling } from "../ui/plot";
import "./versions.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { runsOf } from "../data/runs";
import { type DirectoryFacts, getJson, type RunsFacts } from "../data/source";
import { useQuery } from "../data/state";
import { capitalize, countText, decimal, inSentence, listing } from "../data/words";
import { CONVENTION, ConventionChoice } from "../ui/filters";
import { useNarrow } from "../ui/narrow";

/** Row of `data/moved.json`, computed by the code of `dumbbell diff`, in display units. */
interface MovedRow {
    path: string;
    scheme: string;
    metric: string;
    title: string;
    unit: string;
    digits?: number;
    better?: string;
    base: number | null;
    base_runs: number;
    other: number | null;
    other_runs: number;
    low: number | null;
    high: number | null;
    p: number | null;
    verdict?: string;
    moved: boolean;
}

/** Metric of a scheme on a path, in the base and in every other directory. */
interface Line {
    key: string;
    path: string;
    scheme: string;
    title: string;
    unit: string;
    digits: number;
    better: string;
    base: { mean: number | null; runs: number };
    others: (MovedRow | null)[];
    moved: boolean;
    /** Size of the largest change, as a fraction of the base. */
    size: number;
}

const MOST = 500;

async function movedRows(
    kind: RunsFacts["kind"],
    base: string,
    other: string,
    metrics: readonly string[],
): Promise<MovedRow[]> {
    const query = new URLSearchParams({ base, other });
    for (const metric of metrics) query.append("metric", metric);
    const address =
        kind === "server" ? `data/moved.json?${query}` : `data/moved/${encodeURIComponent(`${base}-${other}`)}.json`;
    return (await getJson<{ rows: MovedRow[] }>(address)).rows;
}

export function VersionsPage({ facts }: { facts: RunsFacts }) {
    const runs = runsOf(facts);
    const [query, change] = useQuery();
    const directories = useMemo(
        () => [...facts.directories].sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0)),
        [facts],
    );
    const base = directories.find(({ id }) => id === query.get("base")) ?? directories[0];
    const namedIds = query.getAll("other");
    const candidates = directories.filter((each) => each !== base);
    const otherDirectories = namedIds.length
        ? candidates.filter(({ id }) => namedIds.includes(id))
        : candidates.slice(-4);
    const convention = query.get("convention") ?? CONVENTION;
    const metrics = facts.conventions[convention]?.metrics ?? [];
    const hidesUnmoved = query.get("moved") !== "all";
    const search = query.get("search") ?? "";
    const [found, setFound] = useState<{ key: string; rows: MovedRow[][] } | null>(null);
    const [problem, setProblem] = useState("");
    const key = JSON.stringify([
        base?.id,
        otherDirectories.map(({ id }) => id),
        facts.kind === "server" ? metrics : [],
    ]);
    useEffect(() => {
        if (!base) return;
        let isMounted = true;
        setProblem("");
        Promise.all(otherDirectories.map(({ id }) => movedRows(facts.kind, base.id, id, metrics))).then(
            (rows) => isMounted && setFound({ key, rows }),
            (error: Error) => isMounted && setProblem(error.message),
        );
        return () => {
            isMounted = false;
        };
    }, [key, facts]);
    const rows = found?.key === key ? found.rows : null;
    const lines = useMemo(() => (rows ? linesOf(rows) : []), [rows]);
    if (!base || candidates.length === 0)
        return (
            <>
                <h1>Time machine</h1>
                <p>
                    It compares results directories of several versions or dates: <code>dumbbell serve OLD NEW</code>{" "}
                    shows two.
                </p>
            </>
        );
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const passing = lines.filter((line) =>
        words.every((word) => `${line.path} ${line.scheme} ${line.title}`.toLowerCase().includes(word)),
    );
    const movedLines = passing.filter((line) => line.moved);
    const visibleLines = hidesUnmoved ? movedLines : passing;
    const dates = [base, ...otherDirectories].sort((a, b) => directories.indexOf(a) - directories.indexOf(b));
    return (
        <>
            <h1>What moved since {base.label}?</h1>
            <div class="row tools">
                <label>
                    Base{" "}
                    <select value={base.id} onChange={(event) => change({ base: event.currentTarget.value })}>
                        {directories.map((each) => (
                            <option key={each.id} value={each.id}>
                                {name(each)}
                            </option>
                        ))}
                    </select>
                </label>
                {candidates.length > 1 && (
                    <fieldset class="row others">
                        <legend class="hidden">Compared with</legend>
                        {candidates.map((each) => (
                            <label key={each.id} class="check">
                                <input
                                    type="checkbox"
                                    checked={otherDirectories.includes(each)}
                                    onChange={(event) => {
                                        const next = candidates.filter((one) =>
                                            one === each ? event.currentTarget.checked : otherDirectories.includes(one),
                                        );
                                        if (next.length) change({ other: next.map(({ id }) => id) });
                                    }}
                                />
                                {each.label}
                            </label>
                        ))}
                    </fieldset>
                )}
                {facts.kind === "server" && (
                    <ConventionChoice
                        facts={facts}
                        value={convention}
                        change={(name) => change({ convention: name })}
                    />
                )}
                <label>
                    <span class="hidden">Search paths, schemes, metrics</span>
                    <input
                        type="search"
                        placeholder="Path, scheme, metric"
                        value={search}
                        onInput={(event) => change({ search: event.currentTarget.value || null }, true)}
                    />
                </label>
                <label class="check">
                    <input
                        type="checkbox"
                        checked={hidesUnmoved}
                        onChange={(event) => change({ moved: event.currentTarget.checked ? null : "all" })}
                    />
                    only what moved
                </label>
            </div>
            {problem ? (
                <p class="bad" role="alert">
                    {problem}
                </p>
            ) : rows === null ? (
                <p class="quiet" role="status">
                    Comparing…
                </p>
            ) : (
                <>
                    <p class="answer" role="status">
                        {answer(passing, movedLines, otherDirectories)}
                    </p>
                    {visibleLines.length > 0 && (
                        <Scrolling label="Differences">
                            <Differences
                                lines={visibleLines.slice(0, MOST)}
                                base={base}
                                others={otherDirectories}
                                dates={dates}
                                runs={runs}
                            />
                        </Scrolling>
                    )}
                    {visibleLines.length > MOST && (
                        <p>
                            {MOST} of {visibleLines.length} are listed, the largest moves first.
                        </p>
                    )}
                    <p class="quiet foot">
                        A difference is the mean of the other less that of the base. In brackets: where it lies with 95
                        %, by Student’s t with Welch’s degrees of freedom, or within pairs of runs with the same seed.
                        It moved if that is beyond chance, adjusted for all metrics, paths and schemes that are compared
                        (Holm); of fewer than five runs, if the ranges of the runs do not overlap and that is rare by
                        chance. <code>dumbbell diff</code> prints the same.
                    </p>
                </>
            )}
        </>
    );
}

function name(directory: DirectoryFacts): string {
    const date = directory.date.slice(0, 10);
    return [directory.label, directory.version && `version ${directory.version}`, date].filter(Boolean).join(", ");
}

function linesOf(compared: readonly (readonly MovedRow[])[]): Line[] {
    const lineByKey = new Map<string, Line>();
    for (const [place, rows] of compared.entries())
        for (const row of rows) {
            const key = JSON.stringify([row.path, row.scheme, row.metric]);
            let line = lineByKey.get(key);
            if (!line) {
                line = {
                    key,
                    path: row.path,
                    scheme: row.scheme,
                    title: row.title,
                    unit: row.unit,
                    digits: row.digits ?? 2,
                    better: row.better ?? "neutral",
                    base: { mean: row.base, runs: row.base_runs },
                    others: compared.map(() => null),
                    moved: false,
                    size: 0,
                };
                lineByKey.set(key, line);
            }
            line.others[place] = row;
            line.moved ||= row.moved;
            if (row.base !== null && row.other !== null) {
                const part =
                    row.base === 0
                        ? row.other === 0
                            ? 0
                            : Number.POSITIVE_INFINITY
                        : Math.abs((row.other - row.base) / row.base);
                line.size = Math.max(line.size, part);
            }
        }
    return [...lineByKey.values()].sort(
        (a, b) => Number(b.moved) - Number(a.moved) || (a.size === b.size ? 0 : b.size - a.size),
    );
}

function answer(lines: readonly Line[], movedLines: readonly Line[], others: readonly DirectoryFacts[]): string {
    const comparedLines = lines.filter(
        (line) => line.base.mean !== null && line.others.some((row) => row !== null && row.other !== null),
    );
    if (!comparedLines.length) return "There is nothing in both that could be compared.";
    const directoryText = others.length === 1 ? ` in ${others[0]!.label}` : "";
    if (!movedLines.length)
        return `Nothing moved beyond chance${directoryText}: ${countText(comparedLines.length, "comparison")}.`;
    const largestMoves = movedLines
        .slice(0, 3)
        .map((line) => `${inSentence(line.title)} of ${line.scheme} on ${line.path} (${percent(line)})`);
    return `${movedLines.length} of ${countText(comparedLines.length, "comparison")} moved beyond chance${directoryText}, most of all ${listing(largestMoves)}.`;
}

function percent(line: Line): string {
    const { mean } = line.base;
    const far = line.others.reduce<number>((most, row) => {
        if (row === null || row.other === null || mean === null) return most;
        const part = mean === 0 ? 0 : (row.other - mean) / Math.abs(mean);
        return Math.abs(part) > Math.abs(most) ? part : most;
    }, 0);
    if (mean === 0) return "from 0";
    return signedText(100 * far, Math.abs(far) < 0.1 ? 1 : 0, " %");
}

function signedText(value: number, digits: number, unit: string): string {
    const text = decimal(Math.abs(value), digits);
    return `${value > 0 ? "+" : value < 0 ? "−" : ""}${text}${unit}`;
}

function Differences(props: {
    lines: readonly Line[];
    base: DirectoryFacts;
    others: readonly DirectoryFacts[];
    dates: readonly DirectoryFacts[];
    runs: { facts: RunsFacts };
}) {
    const { lines, base, others, dates } = props;
    const narrow = useNarrow();
    return (
        <table class="moved">
            <caption class="hidden">Means of each metric in the base and the others, and how they differ</caption>
            <thead>
                <tr>
                    {narrow ? (
                        <th scope="col">Of</th>
                    ) : (
                        <>
                            <th scope="col">Path</th>
                            <th scope="col">Scheme</th>
                            <th scope="col">Metric</th>
                        </>
                    )}
                    <th scope="col" class="number">
                        {base.label}
                    </th>
                    {others.map((each) => (
                        <th key={each.id} scope="col" class="number">
                            {each.label}
                        </th>
                    ))}
                    {dates.length > 2 && <th scope="col">By date</th>}
                </tr>
            </thead>
            <tbody>
                {lines.map((line) => (
                    <tr key={line.key}>
                        {narrow ? (
                            <th scope="row">
                                {line.scheme} <small class="quiet">{line.path}</small>
                                {capitalize(line.title)} <span class="quiet">{line.unit}</span>
                            </th>
                        ) : (
                            <>
                                <th scope="row">{line.path}</th>
                                <td>{line.scheme}</td>
                                <td>
                                    {capitalize(line.title)} <span class="quiet">{line.unit}</span>
                                </td>
                            </>
                        )}
                        <td class="number">
                            {line.base.mean === null ? "-" : decimal(line.base.mean, line.digits)}
                            <small class="quiet">{countText(line.base.runs, "run")}</small>
                        </td>
                        {line.others.map((row, place) => (
                            <td key={others[place]!.id} class="number">
                                {row === null || row.other === null ? (
                                    "-"
                                ) : (
                                    <Difference line={line} row={row} base={base.id} other={others[place]!.id} />
                                )}
                            </td>
                        ))}
                        {dates.length > 2 && (
                            <td>
                                <Spark line={line} base={base} others={others} dates={dates} />
                            </td>
                        )}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function Difference({ line, row, base, other }: { line: Line; row: MovedRow; base: string; other: string }) {
    const { mean } = line.base;
    const difference = mean === null || row.other === null ? null : row.other - mean;
    const ends =
        row.low !== null && row.high !== null
            ? ` [${signedText(row.low, line.digits, "")}, ${signedText(row.high, line.digits, "")}]`
            : "";
    const better =
        difference !== null &&
        (line.better === "more" ? difference > 0 : line.better === "less" ? difference < 0 : null);
    const query = new URLSearchParams({ list: "runs" });
    for (const entry of [
        `directory:${base}`,
        `directory:${other}`,
        ...(row.path.includes(" | ") ? [] : [`path:${row.path}`]),
        ...(row.scheme.includes(" | ") ? [] : [`scheme:${row.scheme}`]),
    ])
        query.append("filter", entry);
    return (
        <>
            <a href={`#/runs?${query}`}>{decimal(row.other!, line.digits)}</a>
            <small>
                {difference === null ? (
                    ""
                ) : row.moved ? (
                    <b class={better === true ? "better" : better === false ? "worse" : ""}>
                        {better === true ? "better " : better === false ? "worse " : "moved "}
                        {signedText(difference, line.digits, "")}
                        {ends}
                    </b>
                ) : (
                    <span class="quiet">
                        {difference === 0 ? "equal" : signedText(difference, line.digits, "")}
                        {ends}
                    </span>
                )}
                <span class="quiet">
                    {" "}
                    {row.verdict && row.verdict !== "different" && row.verdict !== "equal" ? `${row.verdict}, ` : ""}
                    {countText(row.other_runs, "run")}
                </span>
            </small>
        </>
    );
}

function Spark({
    line,
    base,
    others,
    dates,
}: {
    line: Line;
    base: DirectoryFacts;
    others: readonly DirectoryFacts[];
    dates: readonly DirectoryFacts[];
}) {
    const means = dates.map((each) =>
        each === base ? line.base.mean : (line.others[others.indexOf(each)]?.other ?? null),
    );
    const presentMeans = means.filter((mean) => mean !== null);
    if (presentMeans.length < 2) return null;
    const [low, high] = [Math.min(...presentMeans), Math.max(...presentMeans)];
    const x = (place: number) => 5 + (place / (dates.length - 1)) * 80;
    const y = (mean: number) => (high > low ? 21 - ((mean - low) / (high - low)) * 16 : 13);
    const spots = means.flatMap((mean, place) => (mean === null ? [] : [{ place, mean }]));
    return (
        <svg
            width="90"
            height="26"
            role="img"
            aria-label={`By date: ${spots.map(({ place, mean }) => `${dates[place]!.label} ${decimal(mean, line.digits)}`).join(", ")}`}
        >
            <path
                class="spark"
                d={spots
                    .map(({ place, mean }, index) => `${index ? "L" : "M"}${x(place)} ${y(mean).toFixed(1)}`)
                    .join("")}
            />
            {spots.map(({ place, mean }) => (
                <circle
                    key={place}
                    cx={x(place)}
                    cy={y(mean)}
                    r={dates[place] === base ? 3.5 : 2.2}
                    class={dates[place] === base ? "spot base" : "spot"}
                />
            ))}
        </svg>
    );
}
