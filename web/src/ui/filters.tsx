/** Filter bar above the table and the charts, with its state in `filter` of the address. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
    countedValues,
    type Filter,
    filterFields,
    filterRows,
    type Runs,
    reachOf,
    readFilters,
    runsOf,
} from "../data/runs";
import type { Field, RunsFacts } from "../data/source";
import { useQuery } from "../data/state";
import { capitalize, countText, decimal, titleOf } from "../data/words";

/** Returns the table of runs. When runs were added, the previous table stays until its columns are loaded again. */
export function useRuns(facts: RunsFacts): Runs {
    const [shown, setShown] = useState(() => runsOf(facts));
    useEffect(() => {
        const next = runsOf(facts);
        if (next === shown) return;
        let isMounted = true;
        const change = () => isMounted && setShown(next);
        next.load(shown.columns).then(change, change);
        return () => {
            isMounted = false;
        };
    }, [facts]);
    return shown;
}

/** Loads columns, and reports when all requested ones are available. */
export function useColumns(runs: Runs, names: readonly string[]): { ready: boolean; age: number; problem: string } {
    const key = [...new Set(names)].sort().join("\n");
    const [state, setState] = useState({ key: "", age: 0, problem: "" });
    const isLoaded = names.every((name) => runs.has(name) || !runs.fields.has(name)) && runs.has("status");
    useEffect(() => {
        let isMounted = true;
        runs.load(names).then(
            () => isMounted && setState(({ age }) => ({ key, age: age + 1, problem: "" })),
            (error: Error) => isMounted && setState(({ age }) => ({ key, age, problem: error.message })),
        );
        return () => {
            isMounted = false;
        };
    }, [key, runs]);
    return { ready: isLoaded, age: state.age, problem: state.problem };
}

export interface Selection {
    entries: string[];
    filters: Filter[];
    unknown: string[];
    search: string;
    setSearch: (text: string) => void;
    setEntries: (entries: string[]) => void;
    rows: Uint32Array;
    ready: boolean;
    age: number;
    problem: string;
}

const WAIT_MS = 300;

/** Returns the filters of the address and the rows that pass. `columns` are loaded too. */
export function useChosen(runs: Runs, columns: readonly string[]): Selection {
    const [query, change] = useQuery();
    const queryEntries = query.getAll("filter");
    const entries = queryEntries.filter((entry) => !entry.startsWith("*:"));
    const searchText = queryEntries.find((entry) => entry.startsWith("*:"))?.slice(2) ?? "";
    const [typed, setTyped] = useState<string | null>(null);
    const waiting = useRef(0);
    const search = typed ?? searchText;
    const key = JSON.stringify([entries, search]);
    const { filters, unknown } = useMemo(
        () => readFilters(search ? [...entries, `*:${search}`] : entries, runs.fields),
        [key, runs],
    );
    const { ready, age, problem } = useColumns(runs, [...columns, ...filterFields(filters, runs.fields)]);
    const rows = useMemo(() => {
        if (!runs.has("status")) return new Uint32Array();
        const start = performance.now();
        const passingRows = filterRows(runs, filters);
        performance.measure("dumbbell filter", { start });
        return passingRows;
    }, [key, runs, age]);
    const write = (next: readonly string[], text: string, keeps: boolean) =>
        change({ filter: text ? [...next, `*:${text}`] : next }, keeps);
    const setSearch = (text: string) => {
        setTyped(text);
        clearTimeout(waiting.current);
        // Browsers refuse many changes of the address in a short time.
        waiting.current = setTimeout(() => {
            write(entries, text, true);
            setTyped(null);
        }, WAIT_MS) as unknown as number;
    };
    useEffect(() => () => clearTimeout(waiting.current), []);
    return {
        entries,
        filters,
        unknown,
        search,
        setSearch,
        setEntries: (next) => write(next, search, false),
        rows,
        ready,
        age,
        problem,
    };
}

/** Returns a filter in words. */
export function filterText(runs: Runs, filter: Filter): string {
    if (filter.kind === "search") return `“${filter.text}”`;
    const field = runs.fields.get(filter.field);
    const title = field?.title ?? filter.field;
    if (filter.kind === "values") {
        const label = (value: string) =>
            value === "" ? "none" : filter.field === "directory" ? runs.directoryLabel(value) : value;
        const [first = "", ...rest] = filter.values;
        return `${title}: ${label(first)}${rest.length ? ` or ${rest.length === 1 ? label(rest[0]!) : `${rest.length} others`}` : ""}`;
    }
    const unit = field?.unit ? ` ${field.unit}` : "";
    const text = (value: number) =>
        filter.field === "started_at"
            ? new Date(value * 1000).toISOString().slice(0, 10)
            : `${Number(value.toPrecision(6))}`;
    if (filter.low === filter.high && filter.low !== null) return `${title}: ${text(filter.low)}${unit}`;
    if (filter.low === null) return `${title} ≤ ${text(filter.high!)}${unit}`;
    if (filter.high === null) return `${title} ≥ ${text(filter.low)}${unit}`;
    return `${title}: ${text(filter.low)} to ${text(filter.high)}${unit}`;
}

function without(entries: readonly string[], filter: Filter): string[] {
    return filter.kind === "search" ? [...entries] : entries.filter((entry) => !entry.startsWith(`${filter.field}:`));
}

export function FilterBar({ runs, chosen }: { runs: Runs; chosen: Selection }) {
    const { entries, filters, search, setSearch, setEntries } = chosen;
    return (
        <>
            <div class="row">
                <label class="search">
                    <span class="hidden">Search in all texts of the runs</span>
                    <input
                        type="search"
                        placeholder="Search runs"
                        value={search}
                        onInput={(event) => setSearch(event.currentTarget.value)}
                    />
                </label>
                <FieldFilter runs={runs} chosen={chosen} />
                {filters
                    .filter((filter) => filter.kind !== "search")
                    .map((filter) => (
                        <button
                            type="button"
                            class="chip"
                            key={filterText(runs, filter)}
                            title="Remove this filter"
                            onClick={() => setEntries(without(entries, filter))}
                        >
                            <span class="hidden">Remove the filter </span>
                            <span class="chip-text">{filterText(runs, filter)}</span>
                            <span aria-hidden="true">×</span>
                        </button>
                    ))}
                {entries.length > 1 && (
                    <button type="button" class="plain" onClick={() => setEntries([])}>
                        Remove all
                    </button>
                )}
            </div>
            {chosen.unknown.length > 0 && (
                <p class="bad" role="alert">
                    The address has a filter that these results do not know: {chosen.unknown.join(", ")}
                </p>
            )}
            {chosen.problem && (
                <p class="bad" role="alert">
                    {chosen.problem}
                </p>
            )}
        </>
    );
}

/** Options of a select: fields by group. */
export function FieldOptions({ fields }: { fields: readonly Field[] }) {
    const groups = new Map<string, Field[]>();
    for (const field of fields) {
        const members = groups.get(field.group);
        if (members) members.push(field);
        else groups.set(field.group, [field]);
    }
    const titles: Record<string, string> = {
        run: "Run",
        axis: "Axes",
        network: "All flows",
        flow: "Flow",
        link: "Link",
    };
    return (
        <>
            {[...groups].map(([group, each]) => (
                <optgroup key={group} label={titles[group] ?? capitalize(group)}>
                    {each.map((field) => (
                        <option key={field.name} value={field.name}>
                            {fieldLabel(field)}
                        </option>
                    ))}
                </optgroup>
            ))}
        </>
    );
}

/** Default convention. */
export const CONVENTION = "corrected";

export function ConventionChoice(props: {
    facts: RunsFacts;
    value: string;
    change: (convention: string | null) => void;
}) {
    return (
        <label>
            <span class="hidden">Convention of the metrics</span>
            <select
                value={props.value}
                onChange={({ currentTarget: { value } }) => props.change(value === CONVENTION ? null : value)}
            >
                {Object.entries(props.facts.conventions).map(([name, { title }]) => (
                    <option key={name} value={name}>
                        {title}
                    </option>
                ))}
            </select>
        </label>
    );
}

/** Returns the title of a field. Conventions have equal titles, so other conventions than the default are named. */
export function fieldLabel(field: Field): string {
    return `${titleOf(field)}${field.convention && field.convention !== CONVENTION ? `, ${field.convention}` : ""}`;
}

/** Disclosure whose content floats over the page. Escape and a click outside close it. */
export function Menu({
    title,
    children,
    wide,
}: {
    title: string;
    children: () => preact.ComponentChildren;
    wide?: boolean;
}) {
    const element = useRef<HTMLDetailsElement>(null);
    const [open, setOpen] = useState(false);
    const body = useRef<HTMLDivElement>(null);
    useLayoutEffect(() => {
        // Content beyond the right edge of the window moves to the left.
        const beyond = (body.current?.getBoundingClientRect().right ?? 0) - document.documentElement.clientWidth + 16;
        if (body.current && beyond > 0) body.current.style.marginLeft = `${-beyond}px`;
    }, [open]);
    useEffect(() => {
        if (!open) return;
        const close = (event: Event) => {
            const details = element.current;
            if (!details) return;
            if (event instanceof KeyboardEvent) {
                if (event.key !== "Escape") return;
                details.querySelector("summary")?.focus();
            } else if (!(event.target instanceof Node) || !event.target.isConnected || details.contains(event.target))
                return;
            details.open = false;
        };
        addEventListener("keydown", close);
        addEventListener("pointerdown", close);
        return () => {
            removeEventListener("keydown", close);
            removeEventListener("pointerdown", close);
        };
    }, [open]);
    return (
        <details class="menu" ref={element} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{title}</summary>
            {open && (
                <div class={wide ? "menu-body wide" : "menu-body"} ref={body}>
                    {children()}
                </div>
            )}
        </details>
    );
}

function FieldFilter({ runs, chosen }: { runs: Runs; chosen: Selection }) {
    const fields = useMemo(() => {
        const text = runs.facts.fields.filter((field) => field.kind === "text");
        return [...text, ...runs.facts.fields.filter((field) => field.kind === "number")];
    }, [runs]);
    const [name, setName] = useState("scheme");
    const field = runs.fields.get(name) ?? fields[0];
    return (
        <Menu title="Filter">
            {() => (
                <>
                    <label>
                        Field{" "}
                        <select value={field?.name} onChange={(event) => setName(event.currentTarget.value)}>
                            <FieldOptions fields={fields} />
                        </select>
                    </label>
                    {field && <FilterOf key={field.name} runs={runs} chosen={chosen} field={field} />}
                </>
            )}
        </Menu>
    );
}

function FilterOf({ runs, chosen, field }: { runs: Runs; chosen: Selection; field: Field }) {
    const { age } = useColumns(runs, [field.name]);
    const rows = useMemo(() => filterRows(runs, chosen.filters, field.name), [runs, chosen.filters, field, age]);
    if (!runs.has(field.name)) return <p class="quiet">Reading the column…</p>;
    const fieldEntries = chosen.entries.filter((entry) => entry.startsWith(`${field.name}:`));
    const rest = chosen.entries.filter((entry) => !fieldEntries.includes(entry));
    return field.kind === "text" ? (
        <ValuesFilter
            runs={runs}
            field={field}
            rows={rows}
            checked={fieldEntries.map((entry) => entry.slice(field.name.length + 1))}
            change={(values) => chosen.setEntries([...rest, ...values.map((value) => `${field.name}:${value}`)])}
        />
    ) : (
        <RangeFilter
            runs={runs}
            field={field}
            rows={rows}
            value={fieldEntries[0]?.slice(field.name.length + 1) ?? ""}
            change={(value) => chosen.setEntries(value ? [...rest, `${field.name}:${value}`] : rest)}
        />
    );
}

const MOST_LISTED = 200;

function ValuesFilter(props: {
    runs: Runs;
    field: Field;
    rows: Uint32Array;
    checked: readonly string[];
    change: (values: string[]) => void;
}) {
    const { runs, field, checked } = props;
    const [part, setPart] = useState("");
    const values = useMemo(() => countedValues(runs, props.rows, field.name), [runs, props.rows, field]);
    const label = (value: string) => (field.name === "directory" ? runs.directoryLabel(value) : value) || "none";
    const matchingValues = values.filter(({ value }) => label(value).toLowerCase().includes(part.toLowerCase()));
    return (
        <fieldset class="values">
            <legend class="hidden">{field.title}</legend>
            {values.length > 12 && (
                <input
                    type="search"
                    aria-label={`Search in ${field.title}`}
                    placeholder={`${values.length} values: search`}
                    value={part}
                    onInput={(event) => setPart(event.currentTarget.value)}
                />
            )}
            {matchingValues.slice(0, MOST_LISTED).map(({ value, count }) => (
                <label key={value} class="check">
                    <input
                        type="checkbox"
                        checked={checked.includes(value)}
                        onChange={(event) =>
                            props.change(
                                event.currentTarget.checked
                                    ? [...checked, value]
                                    : checked.filter((each) => each !== value),
                            )
                        }
                    />
                    <span class="check-text">{label(value)}</span>
                    <span class="quiet">{count}</span>
                </label>
            ))}
            {matchingValues.length > MOST_LISTED && (
                <p class="quiet">and {countText(matchingValues.length - MOST_LISTED, "other")}: search</p>
            )}
        </fieldset>
    );
}

function RangeFilter(props: {
    runs: Runs;
    field: Field;
    rows: Uint32Array;
    value: string;
    change: (value: string) => void;
}) {
    const { field } = props;
    const reach = useMemo(() => reachOf(props.runs, props.rows, field.name), [props.runs, props.rows, field]);
    const isTime = field.name === "started_at";
    const [from = "", to = from] = props.value.split("..", 2);
    const hint = (value: number | undefined) =>
        value === undefined ? "" : decimal(value, Math.min(field.digits ?? 3, 3));
    const set = (low: string, high: string) => props.change(low || high ? `${low}..${high}` : "");
    if (!reach) return <p class="quiet">None of the runs has this number.</p>;
    return (
        <fieldset class="values">
            <legend class="hidden">{titleOf(field)}</legend>
            <label>
                From{" "}
                <input
                    type={isTime ? "date" : "number"}
                    step="any"
                    value={from}
                    placeholder={hint(reach[0])}
                    onChange={(event) => set(event.currentTarget.value, to)}
                />
            </label>
            <label>
                To{" "}
                <input
                    type={isTime ? "date" : "number"}
                    step="any"
                    value={to}
                    placeholder={hint(reach[1])}
                    onChange={(event) => set(from, event.currentTarget.value)}
                />
            </label>
            {field.unit && !isTime && <span class="quiet">{field.unit}</span>}
        </fieldset>
    );
}
