/** Says how far a running experiment is, and that runs were added. */

import { useEffect, useState } from "preact/hooks";

interface Progress {
    done: number;
    total: number;
    running: boolean;
    changed: boolean;
}

export function LiveLine({ changed }: { changed: () => void }) {
    const [progress, setProgress] = useState<Progress | null>(null);
    useEffect(() => {
        const events = new EventSource("data/live");
        events.addEventListener("progress", (event) => {
            const next = JSON.parse((event as MessageEvent<string>).data) as Progress;
            setProgress(next);
            if (next.changed) changed();
        });
        return () => events.close();
    }, []);
    if (!progress?.running) return null;
    return (
        <span class="quiet" role="status">
            running: {progress.done} of {progress.total} runs
        </span>
    );
}
