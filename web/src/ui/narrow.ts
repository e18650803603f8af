/** Whether the window is as narrow as that of a phone. */

import { useEffect, useState } from "preact/hooks";

export function useNarrow(): boolean {
    const media = "(max-width: 640px)";
    const [narrow, setNarrow] = useState(() => matchMedia(media).matches);
    useEffect(() => {
        const list = matchMedia(media);
        const listen = () => setNarrow(list.matches);
        list.addEventListener("change", listen);
        return () => list.removeEventListener("change", listen);
    }, []);
    return narrow;
}
