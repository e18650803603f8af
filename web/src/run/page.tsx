import type { RunsFacts } from "../data/source";

export function RunPage({ id, facts }: { id: string; facts: RunsFacts }) {
    return (
        <p>
            {id} of {facts.rows} runs
        </p>
    );
}
