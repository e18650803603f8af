/** Shares of the payload: the mean share of each scheme in runs of two schemes. */

import { useMemo } from "preact/hooks";
import { byText, type Runs } from "../data/runs";
import { type Estimate, estimate, meanOf } from "../data/statistics";
import { boundsLegend, boundsText, decimal, listing } from "../data/words";
import { balance } from "../ui/shade";
import { useInks } from "../ui/theme";
import { type Facet, filterOf, isMix, partsOf, tableAddress } from "./facets";
import { Matrix } from "./matrix";

/** Fraction of the fair share below which a flow starves. */
const STARVES = 0.1;
const MOST_LISTED = 6;

/** Returns the share columns of all schemes that occur in mixes. */
export function shareFields(runs: Runs): string[] {
    const names = runs.has("scheme") ? (runs.column("scheme").names ?? []) : [];
    const schemes = new Set(names.filter(isMix).flatMap((mix) => [...partsOf(mix).keys()]));
    return [...schemes].map((scheme) => `share:${scheme}`).filter((name) => runs.fields.has(name));
}

interface ShareEstimate {
    estimate: Estimate;
    fair: number;
    mixes: string[];
}

export function sharesOf(runs: Runs, facet: Facet): Map<string, ShareEstimate> {
    const samples = new Map<string, { shares: number[]; fair: number[]; mixes: Set<string> }>();
    for (const { scheme: mix, rows } of facet.schemes) {
        const parts = partsOf(mix);
        if (parts.size !== 2 || ![...parts.keys()].every((name) => runs.has(`share:${name}`))) continue;
        const flows = [...parts.values()].reduce((sum, each) => sum + each, 0);
        const names = [...parts.keys()];
        for (const [place, one] of names.entries()) {
            const values = runs.numbers(`share:${one}`);
            const key = JSON.stringify([one, names[1 - place]]);
            const sample = samples.get(key) ?? { shares: [], fair: [], mixes: new Set() };
            for (const row of rows) {
                if (Number.isNaN(values[row]!)) continue;
                sample.shares.push(values[row]!);
                sample.fair.push(parts.get(one)! / flows);
            }
            sample.mixes.add(mix);
            if (sample.shares.length) samples.set(key, sample);
        }
    }
    return new Map(
        [...samples].map(([key, { shares, fair, mixes }]) => [
            key,
            { estimate: estimate(shares, runs.facts.critical_values, true)!, fair: meanOf(fair), mixes: [...mixes] },
        ]),
    );
}

export function Shares({
    runs,
    facet,
    entries,
    isAnswered,
}: {
    runs: Runs;
    facet: Facet;
    entries: readonly string[];
    isAnswered: boolean;
}) {
    const inks = useInks();
    const got = useMemo(() => sharesOf(runs, facet), [runs, facet]);
    if (!got.size) return null;
    const pairs = [...got.keys()].map((key) => JSON.parse(key) as [string, string]);
    const schemes = [...new Set(pairs.flat())].sort(byText);
    const percent = (value: number) => decimal(100 * value, 1);
    return (
        <section class="chart">
            <h3>{facet.title}</h3>
            {!isAnswered &&
                sentences(facet.path, got, pairs).map((text) => (
                    <p key={text} class="answer">
                        {text}
                    </p>
                ))}
            <Matrix
                label={`Mean share of the payload, percent, that the row's scheme gets beside the column's, on ${facet.title}`}
                corner="gets % beside"
                rows={schemes}
                columns={schemes}
                cell={(row, column) => {
                    const cell = got.get(JSON.stringify([row, column]));
                    if (!cell) return null;
                    const { mean } = cell.estimate;
                    const far =
                        mean < cell.fair ? (mean - cell.fair) / cell.fair : (mean - cell.fair) / (1 - cell.fair);
                    return {
                        text: percent(mean),
                        small: [
                            boundsText(cell.estimate, percent),
                            cell.fair === 0.5 ? "" : `fair ${percent(cell.fair)}`,
                        ]
                            .filter(Boolean)
                            .join(" "),
                        ground: balance(inks, far),
                        href: tableAddress(entries, [
                            ...filterOf(runs, facet),
                            ...cell.mixes.map((mix) => `scheme:${mix}`),
                        ]),
                    };
                }}
            />
            <p class="quiet foot">
                The scheme of the row gets this part of the payload beside that of the column. No colour is fair, blue
                more, orange less. {boundsLegend([...got.values()].map(({ estimate }) => estimate))}
            </p>
        </section>
    );
}

/**
 * Returns sentences such as `Beside cubic on india: bbr 26 % [24, 28] of the payload (fair: 50 %)`, the commonest
 * competitor first.
 */
function sentences(path: string, got: Map<string, ShareEstimate>, pairs: readonly [string, string][]): string[] {
    // Both directions of a pair are neighbours in `pairs`.
    let mixes = pairs.filter((_, index) => index % 2 === 0);
    const texts: string[] = [];
    while (mixes.length) {
        const counts = new Map<string, number>();
        for (const scheme of mixes.flat()) counts.set(scheme, (counts.get(scheme) ?? 0) + 1);
        const maximum = Math.max(...counts.values());
        const competitor = [...counts].find(([, count]) => count === maximum)![0];
        const competitorShares = mixes.flatMap((mix) =>
            mix.includes(competitor) ? mix.filter((each) => each !== competitor) : [],
        );
        mixes = mixes.filter((mix) => !mix.includes(competitor));
        const entries = competitorShares.map((scheme) => ({
            scheme,
            ...got.get(JSON.stringify([scheme, competitor]))!,
        }));
        texts.push(sentence(path, competitor, entries, got));
    }
    return texts;
}

function sentence(
    path: string,
    competitor: string,
    entries: readonly (ShareEstimate & { scheme: string })[],
    got: Map<string, ShareEstimate>,
): string {
    const percent = (value: number) => decimal(100 * value, 0);
    const fair = new Set(entries.map((each) => percent(each.fair)));
    const shareTexts = entries.map(({ scheme, estimate, fair: own }) =>
        [
            `${scheme} ${percent(estimate.mean)} %`,
            boundsText(estimate, percent),
            fair.size > 1 ? `(fair: ${percent(own)} %)` : "",
        ]
            .filter(Boolean)
            .join(" "),
    );
    let text = `Beside ${competitor} on ${path}: `;
    if (shareTexts.length > MOST_LISTED) {
        const sortedEntries = [...entries].sort((a, b) => a.estimate.mean - b.estimate.mean);
        const [least, most] = [sortedEntries[0]!, sortedEntries.at(-1)!];
        text += `of ${shareTexts.length} schemes ${least.scheme} gets the least on average, ${percent(least.estimate.mean)} % of the payload, and ${most.scheme} the most, ${percent(most.estimate.mean)} %`;
    } else text += `${listing(shareTexts, MOST_LISTED)} of the payload`;
    if (fair.size === 1) text += ` (fair: ${[...fair][0]} %)`;
    const starves = ({ estimate, fair: own }: ShareEstimate) => (estimate.high ?? estimate.mean) < STARVES * own;
    const starvingSchemes = [
        ...entries.filter(starves).map(({ scheme }) => scheme),
        ...entries.flatMap(({ scheme }) => {
            const reverse = got.get(JSON.stringify([competitor, scheme]));
            return reverse && starves(reverse) ? [`${competitor} beside ${scheme}`] : [];
        }),
    ];
    if (starvingSchemes.length) text += `; below a tenth of the fair share: ${listing(starvingSchemes)}`;
    return `${text}${unresolvedText(entries)}.`;
}

function unresolvedText(entries: readonly (ShareEstimate & { scheme: string })[]): string {
    const runs = Math.min(...entries.map(({ estimate }) => estimate.count));
    if (runs < 2) return "; of one run the noise is not known";
    const intervalText = `${entries.some(({ estimate }) => estimate.bounds === "range") ? "range" : "interval"} (${runs} runs)`;
    const open = entries.filter(
        ({ estimate, fair }) => estimate.low !== null && estimate.low <= fair && fair <= estimate.high!,
    );
    if (!open.length) return `; ${entries.length > 1 ? "each" : "the"} ${intervalText} excludes the fair share`;
    return `; the ${intervalText}${entries.length > 1 ? ` of ${listing(open.map(({ scheme }) => scheme))}` : ""} includes the fair share`;
}
