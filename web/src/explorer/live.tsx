/** Progress of a running experiment, with a note that runs were added. */

import { useEffect } from "preact/hooks";
import { useFeed } from "../live/feed";

export function LiveLine({ changed, here }: { changed: () => void; here: boolean }) {
    const { progress } = useFeed();
    useEffect(() => {
        if (progress?.changed) changed();
    }, [progress]);
    if (!progress?.running) return null;
    return (
        <a href="#/live" aria-current={here ? "page" : undefined} class="live-line">
            {progress.total > 0 ? `Live: ${progress.done} of ${progress.total} runs` : "Live"}
        </a>
    );
}
