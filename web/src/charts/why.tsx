/** What happened in a run, in sentences: each shows its place in the diagrams. */

import "./charts.css";
import type { Sentence } from "../data/source";
import { exactTime } from "./ticks";

interface Props {
    reading: readonly Sentence[];
    chosen: Sentence | null;
    /** Told the number of the sentence; null: none any more. */
    onChoose: (index: number | null) => void;
    /** The diagrams are of a newer run. */
    old?: boolean;
}

export function Why({ reading, chosen, onChoose, old = false }: Props) {
    return (
        <ol class={old ? "why old" : "why"}>
            {reading.map((each, index) => (
                <li key={`${each.kind} ${each.from_ns} ${each.text}`}>
                    <button
                        type="button"
                        disabled={old}
                        aria-pressed={chosen === each}
                        title={`shows ${exactTime(each.from_ns, 3)} to ${exactTime(each.to_ns, 3)}`}
                        onClick={() => onChoose(chosen === each ? null : index)}
                    >
                        <Text of={each.text} />
                    </button>
                </li>
            ))}
        </ol>
    );
}

/** A sentence in which names of modes stand between backticks. */
function Text({ of }: { of: string }) {
    return of.split("`").map((part, index) => (index % 2 ? <code key={`${index} ${part}`}>{part}</code> : part));
}
