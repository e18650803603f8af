/** Scorecard: the list of RFC 9743, and the evidence of this benchmark for each item. */

import "./benchmark.css";
import type { Benchmark, Criterion, Experiment, Sight } from "../data/benchmark";
import type { RunsFacts } from "../data/source";
import { Scrolling } from "../ui/plot";
import { addressOfExperiment, LoadedBenchmark, Matches, NumbersTable, SchemeName } from "./parts";

export function ScorecardPage({ facts }: { facts: RunsFacts }) {
    return (
        <LoadedBenchmark facts={facts} what="scorecard">
            {(benchmark) => <Scorecard benchmark={benchmark} facts={facts} />}
        </LoadedBenchmark>
    );
}

function Scorecard({ benchmark, facts }: { benchmark: Benchmark; facts: RunsFacts }) {
    return (
        <>
            <h1>Scorecard: RFC 9743</h1>
            <p>{benchmark.source}</p>
            <p class="foot">
                What the RFC wants to see of a new congestion controller, and the evidence in this benchmark. The RFC
                sets no thresholds, so nothing here passes or fails: numbers stand beside those of the reference schemes
                in the same place. Facts are marked where they were seen, each with its rule; without a rule, numbers
                are all there is. Evidence from simulation alone supports an Experimental document at most; experience
                on the Internet has to follow.
            </p>
            <Summary benchmark={benchmark} />
            {benchmark.criteria.map((each) => (
                <CriterionSection key={each.section} benchmark={benchmark} facts={facts} criterion={each} />
            ))}
        </>
    );
}

function experimentOf(benchmark: Benchmark, directory: string): Experiment {
    return benchmark.experiments.find((each) => each.directory === directory)!;
}

function Summary({ benchmark }: { benchmark: Benchmark }) {
    return (
        <Scrolling label="All criteria">
            <table>
                <thead>
                    <tr>
                        {["Section", "Criterion", "Strength", "Examined by"].map((title) => (
                            <th key={title} scope="col">
                                {title}
                            </th>
                        ))}
                        {benchmark.examined.map((name) => (
                            <th key={name} scope="col">
                                {benchmark.schemes[name]}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {benchmark.criteria.map((each) => {
                        const by = [...new Set(each.evidence.map(({ directory }) => directory))];
                        return (
                            <tr key={each.section}>
                                <td>{each.section}</td>
                                <td>
                                    <button
                                        type="button"
                                        class="plain"
                                        onClick={() => document.getElementById(anchor(each))?.scrollIntoView()}
                                    >
                                        {each.title}
                                    </button>
                                </td>
                                <td>{each.strength}</td>
                                <td>
                                    {by.length === 0 &&
                                        (each.not_here ? "not examined here" : "not part of this benchmark")}
                                    {by.map((directory, index) => (
                                        <span key={directory}>
                                            {index > 0 && ", "}
                                            <a href={addressOfExperiment(directory)}>
                                                {experimentOf(benchmark, directory).title}
                                            </a>
                                        </span>
                                    ))}
                                </td>
                                {benchmark.examined.map((name) => {
                                    const [text, isSeen] = seenBy(each, name);
                                    return (
                                        <td key={name} class={isSeen ? "bad" : undefined}>
                                            {text}
                                        </td>
                                    );
                                })}
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </Scrolling>
    );
}

function anchor({ section }: Criterion): string {
    return `c${section}`;
}

/** Returns the evidence of a scheme's runs for a criterion, and true if there is any evidence. */
export function seenBy(criterion: Criterion, scheme: string): [string, boolean] {
    const sights = criterion.facts.map(({ name, sights }) => ({
        name,
        sight: sights.find((each) => each.scheme === scheme),
    }));
    const shownFacts = sights.filter(({ sight }) => sight?.seen.length).map(({ name }) => name);
    if (shownFacts.length) return [shownFacts.join("; "), true];
    const wasChecked = sights.some(({ sight }) => sight?.looked);
    if (!wasChecked && !criterion.evidence.length) return ["", false];
    return [wasChecked ? "no fact marked" : "numbers only", false];
}

function CriterionSection(props: { benchmark: Benchmark; facts: RunsFacts; criterion: Criterion }) {
    const { benchmark, facts, criterion } = props;
    return (
        <section id={anchor(criterion)} class="criterion">
            <h2>
                {criterion.section} {criterion.title} <span class="quiet">{criterion.strength}</span>
            </h2>
            <p class="foot">{criterion.show}</p>
            {criterion.not_here && (
                <p>
                    <b>Not examined here:</b> {criterion.not_here}.
                </p>
            )}
            {criterion.missing.length > 0 && (
                <p class="quiet">Not part of this benchmark: {criterion.missing.join(", ")}.</p>
            )}
            {criterion.facts.map((fact) => (
                <div key={fact.name}>
                    <p>
                        <b>{fact.name}</b>. Rule: {fact.rule}.
                    </p>
                    <ul>
                        {fact.sights.map((sight) => (
                            <li key={sight.scheme}>
                                <SchemeName benchmark={benchmark} facts={facts} name={sight.scheme} />:{" "}
                                <SightCell benchmark={benchmark} sight={sight} />
                            </li>
                        ))}
                    </ul>
                </div>
            ))}
            {criterion.evidence.map(({ directory, numbers, matches }) => {
                const experiment = experimentOf(benchmark, directory);
                return (
                    <div key={directory}>
                        <h3>
                            <a href={addressOfExperiment(directory)}>{experiment.title}</a>
                        </h3>
                        {experiment.cells > 1 && (
                            <p class="quiet">
                                Mean over {experiment.cells} cells, in brackets the lowest and the highest cell.
                            </p>
                        )}
                        <NumbersTable {...{ benchmark, facts, experiment, numbers }} />
                        {matches && experiment.matches.length > 0 && (
                            <details>
                                <summary>Shares and harm</summary>
                                <Matches benchmark={benchmark} experiment={experiment} />
                            </details>
                        )}
                    </div>
                );
            })}
        </section>
    );
}

function SightCell({ benchmark, sight }: { benchmark: Benchmark; sight: Sight }) {
    if (!sight.looked) return <>not measured here</>;
    if (!sight.seen.length) return <>not seen in {sight.looked} cells</>;
    return (
        <>
            <span class="bad">
                seen in {sight.seen.length} of {sight.looked} cells
            </span>{" "}
            (
            {sight.seen.map(({ directory, path, label }, index) => (
                <span key={`${directory} ${path}`}>
                    {index > 0 && ", "}
                    <a href={addressOfExperiment(directory, path)}>
                        {experimentOf(benchmark, directory).name}: {label}
                    </a>
                </span>
            ))}
            )
        </>
    );
}
