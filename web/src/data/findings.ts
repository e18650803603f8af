/** Findings, for pages. */

import { useEffect, useState } from "preact/hooks";
import type { Runs } from "./runs";
import { type Findings, findingsOf } from "./source";

/** Returns the findings of all runs; null until they are here, empty where there are none. */
export function useFindings(runs: Runs): Findings | null {
    const [found, setFound] = useState<Findings | null>(null);
    useEffect(() => {
        let wanted = true;
        findingsOf().then(
            (findings) => wanted && setFound(findings),
            () => wanted && setFound({}), // the charts have sentences of their own
        );
        return () => {
            wanted = false;
        };
    }, [runs]);
    return found;
}
