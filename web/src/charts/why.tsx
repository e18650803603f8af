/** Sentences that explain a run. Each sentence highlights its place in the diagrams. */

import "./charts.css";
import type { Sentence } from "../data/source";
import { exactTime } from "./ticks";

interface Props {
    reading: readonly Sentence[];
    chosen: Sentence | null;
    /** Called with the number of the chosen sentence, or null if no sentence is chosen. */
    onChoose: (index: number | null) => void;
    /** True if the diagrams show a newer run than the sentences. */
    old?: boolean;
}

export function Explanation({ reading, chosen, onChoose, old = false }: Props) {
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
                        <Text text={each.text} />
                    </button>
                </li>
            ))}
        </ol>
    );
}

/** Sentence with names of modes between backticks. */
function Text({ text }: { text: string }) {
    return text.split("`").map((part, index) => (index % 2 ? <code key={`${index} ${part}`}>{part}</code> : part));
}
