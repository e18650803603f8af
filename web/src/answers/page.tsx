import type { RunsFacts } from "../data/source";

export function AnswersPage({ facts }: { facts: RunsFacts }) {
    return <p>{facts.rows} runs</p>;
}
