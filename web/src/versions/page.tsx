import type { RunsFacts } from "../data/source";

export function VersionsPage({ facts }: { facts: RunsFacts }) {
    return <p>{facts.rows} runs</p>;
}
