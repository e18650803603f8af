/** Light, dark, or as the system has it; charts are drawn again when that changes. */

import { useEffect, useState } from "preact/hooks";

const KEY = "dumbbell-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function stored(): Theme {
    try {
        return THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system";
    } catch {
        return "system"; // a browser that keeps nothing
    }
}

function apply(theme: Theme): void {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event("dumbbell-theme"));
}

export function ThemeChoice() {
    const [theme, setTheme] = useState(stored);
    useEffect(() => apply(theme), [theme]);
    const choose = (value: string) => {
        const chosen = THEMES.find((each) => each === value) ?? "system";
        try {
            localStorage.setItem(KEY, chosen);
        } catch {
            // it holds until the page is left
        }
        setTheme(chosen);
    };
    return (
        <label>
            <span class="hidden">Colours of the page</span>
            <select value={theme} onChange={(event) => choose(event.currentTarget.value)}>
                {THEMES.map((each) => (
                    <option key={each} value={each}>
                        {each}
                    </option>
                ))}
            </select>
        </label>
    );
}

/** The colours of the page as a canvas needs them. */
export interface Inks {
    ground: string;
    ink: string;
    quiet: string;
    line: string;
    soft: string;
    link: string;
    bad: string;
    good: string;
    dark: boolean;
}

function inks(): Inks {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const ground = of("ground");
    const dark = Number.parseInt(ground.slice(1, 3), 16) < 128;
    return {
        ground,
        ink: of("ink"),
        quiet: of("quiet"),
        line: of("line"),
        soft: of("soft"),
        link: of("link"),
        bad: of("bad"),
        good: of("good"),
        dark,
    };
}

/** Returns the colours now; whoever uses them is drawn again when they change. */
export function useInks(): Inks {
    const [found, setFound] = useState(inks);
    useEffect(() => {
        const renew = () => setFound(inks());
        const media = matchMedia("(prefers-color-scheme: dark)");
        media.addEventListener("change", renew);
        addEventListener("dumbbell-theme", renew);
        renew();
        return () => {
            media.removeEventListener("change", renew);
            removeEventListener("dumbbell-theme", renew);
        };
    }, []);
    return found;
}
