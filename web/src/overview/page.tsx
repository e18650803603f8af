import type { RunsFacts } from "../data/source";

export function OverviewPage({ facts }: { facts: RunsFacts }) {
    return <p>{facts.rows} runs</p>;
}
