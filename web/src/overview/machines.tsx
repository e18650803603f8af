/** Records of the machines that produced the results. */

import { useState } from "preact/hooks";
import { type MachineRecord, type RunsFacts, recordsOf } from "../data/source";

export function Machines({ facts }: { facts: RunsFacts }) {
    const [records, setRecords] = useState<Record<string, MachineRecord[]> | null>(null);
    const [problem, setProblem] = useState("");
    const read = () => {
        setProblem("");
        if (records === null) recordsOf().then(setRecords, (error: Error) => setProblem(error.message));
    };
    return (
        <details onToggle={(event) => event.currentTarget.open && read()}>
            <summary>Machines and versions</summary>
            {problem && <p class="bad">{problem}</p>}
            {facts.directories.map(({ id, label }) => (
                <section key={id}>
                    {facts.directories.length > 1 && <h3>{label}</h3>}
                    {records?.[id]?.map(({ heading, text }) => (
                        <div key={heading}>
                            <p class="quiet">{heading}</p>
                            <pre>{text}</pre>
                        </div>
                    ))}
                </section>
            ))}
        </details>
    );
}
