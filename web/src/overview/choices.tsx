/** Controls of the table: grouping, columns, order. */

import { useState } from "preact/hooks";
import type { Runs, SortKey } from "../data/runs";
import type { Field } from "../data/source";
import { capitalize } from "../data/words";
import { FieldOptions, fieldLabel, Menu } from "../ui/filters";
import { useNarrow } from "../ui/narrow";
import { isMetric } from "./tables";

export function GroupChoice({
    runs,
    groups,
    change,
}: {
    runs: Runs;
    groups: readonly string[];
    change: (groups: string[]) => void;
}) {
    const fields = runs.facts.fields.filter(
        (field) => field.kind === "text" || field.group === "axis" || ["run", "seed"].includes(field.name),
    );
    return (
        <Menu title={`By ${groups.map((name) => runs.fields.get(name)?.title ?? name).join(", ")}`}>
            {() => (
                <fieldset class="values">
                    <legend>Runs with the same</legend>
                    {fields.map((field) => (
                        <label key={field.name} class="check">
                            <input
                                type="checkbox"
                                checked={groups.includes(field.name)}
                                disabled={groups.length === 1 && groups[0] === field.name}
                                onChange={(event) =>
                                    change(
                                        event.currentTarget.checked
                                            ? [...groups, field.name]
                                            : groups.filter((each) => each !== field.name),
                                    )
                                }
                            />
                            <span class="check-text">{capitalize(field.title)}</span>
                        </label>
                    ))}
                </fieldset>
            )}
        </Menu>
    );
}

export function PivotChoice({
    runs,
    pivot,
    change,
}: {
    runs: Runs;
    pivot: readonly string[];
    change: (pivot: string[]) => void;
}) {
    const texts = runs.facts.fields.filter(
        (field) => (field.kind === "text" && field.name !== "reason") || field.group === "axis",
    );
    const metrics = runs.facts.fields.filter(isMetric);
    const choice = (place: number, title: string, fields: readonly Field[]) => (
        <label>
            {title}{" "}
            <select
                value={pivot[place]}
                onChange={(event) =>
                    change(pivot.map((each, index) => (index === place ? event.currentTarget.value : each)))
                }
            >
                <FieldOptions fields={fields} />
            </select>
        </label>
    );
    return (
        <>
            {choice(0, "Down", texts)}
            {choice(1, "Across", texts)}
            {choice(2, "Metric", metrics)}
        </>
    );
}

export function ColumnChoice({
    runs,
    columns,
    change,
}: {
    runs: Runs;
    columns: readonly string[];
    change: (columns: string[] | null) => void;
}) {
    const [part, setPart] = useState("");
    return (
        <Menu title="Columns" wide>
            {() => {
                const matchingFields = runs.facts.fields.filter((field) =>
                    `${field.name} ${fieldLabel(field)} ${field.group}`.toLowerCase().includes(part.toLowerCase()),
                );
                return (
                    <>
                        <div class="row">
                            <input
                                type="search"
                                aria-label="Search in columns"
                                placeholder={`Search ${runs.facts.fields.length} columns`}
                                value={part}
                                onInput={(event) => setPart(event.currentTarget.value)}
                            />
                            <button type="button" onClick={() => change(null)}>
                                Those at first
                            </button>
                        </div>
                        <fieldset class="values">
                            <legend class="hidden">Columns that are shown</legend>
                            {matchingFields.map((field) => (
                                <label key={field.name} class="check" title={field.formula}>
                                    <input
                                        type="checkbox"
                                        checked={columns.includes(field.name)}
                                        onChange={(event) =>
                                            change(
                                                event.currentTarget.checked
                                                    ? [...columns, field.name]
                                                    : columns.filter((each) => each !== field.name),
                                            )
                                        }
                                    />
                                    <span class="check-text">
                                        {fieldLabel(field)} <span class="quiet">{field.name}</span>
                                    </span>
                                </label>
                            ))}
                        </fieldset>
                    </>
                );
            }}
        </Menu>
    );
}

/** Select for the order of the rows. On narrow windows rows are cards, without heads to click on. */
export function SortChoice(props: {
    runs: Runs;
    columns: readonly string[];
    sort: readonly SortKey[];
    change: (changes: Record<string, string[] | null>) => void;
    narrowOnly: boolean;
}) {
    const narrow = useNarrow();
    if (props.narrowOnly && !narrow) return null;
    const [first] = props.sort;
    return (
        <label>
            Order{" "}
            <select
                value={first ? `${first.descending ? "-" : ""}${first.field}` : ""}
                onChange={(event) =>
                    props.change({ sort: event.currentTarget.value ? [event.currentTarget.value] : null })
                }
            >
                <option value="">As it came</option>
                {props.columns.flatMap((name) => {
                    const title = capitalize(props.runs.fields.get(name)?.title ?? name);
                    return [
                        <option key={name} value={name}>
                            {title} ↑
                        </option>,
                        <option key={`-${name}`} value={`-${name}`}>
                            {title} ↓
                        </option>,
                    ];
                })}
            </select>
        </label>
    );
}
