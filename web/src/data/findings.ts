/** Findings of all runs, loaded for the pages. */

import { useEffect, useState } from "preact/hooks";
import type { Runs } from "./runs";
import { type Findings, findingsOf } from "./source";

/** Returns the findings of all runs: null until loaded, empty if there are none. */
export function useFindings(runs: Runs): Findings | null {
    const [found, setFound] = useState<Findings | null>(null);
    useEffect(() => {
        let isMounted = true;
        findingsOf().then(
            (findings) => isMounted && setFound(findings),
            () => isMounted && setFound({}), // the charts have sentences of their own
        );
        return () => {
            isMounted = false;
        };
    }, [runs]);
    return found;
}
