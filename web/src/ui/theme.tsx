/** Theme: light, dark, or that of the system. A change redraws the charts. */

import { useEffect, useState } from "preact/hooks";

const KEY = "dumbbell-theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function storedTheme(): Theme {
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
    const [theme, setTheme] = useState(storedTheme);
    useEffect(() => apply(theme), [theme]);
    const choose = (value: string) => {
        const choice = THEMES.find((each) => each === value) ?? "system";
        try {
            localStorage.setItem(KEY, choice);
        } catch {
            // The choice holds until the page is left.
        }
        setTheme(choice);
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

/** Colours of the page for a canvas. */
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
    const property = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const ground = property("ground");
    const dark = Number.parseInt(ground.slice(1, 3), 16) < 128;
    return {
        ground,
        ink: property("ink"),
        quiet: property("quiet"),
        line: property("line"),
        soft: property("soft"),
        link: property("link"),
        bad: property("bad"),
        good: property("good"),
        dark,
    };
}

/** Returns the current colours, and rerenders the caller when they change. */
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
