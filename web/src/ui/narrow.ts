/** Hook that is true for a window at most `most` px wide; default: the width of a phone. */

import { useEffect, useState } from "preact/hooks";

const PHONE_PX = 640;

export function useNarrow(most = PHONE_PX): boolean {
    const media = `(max-width: ${most}px)`;
    const [narrow, setNarrow] = useState(() => matchMedia(media).matches);
    useEffect(() => {
        const list = matchMedia(media);
        const listen = () => setNarrow(list.matches);
        list.addEventListener("change", listen);
        return () => list.removeEventListener("change", listen);
    }, [media]);
    return narrow;
}
