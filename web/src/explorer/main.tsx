/** Explorer: the head shared by all pages, and the page that the address names. */

import "uplot/dist/uPlot.min.css";
import "../ui/style.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AnswersPage } from "../answers/page";
import { ScorecardPage } from "../benchmark/scorecard";
import { VerdictsPage } from "../benchmark/verdicts";
import { type RunsFacts, runsFacts } from "../data/source";
import { useAddress } from "../data/state";
import { LivePage } from "../live/page";
import { OverviewPage } from "../overview/page";
import { RunPage } from "../run/page";
import { ThemeChoice } from "../ui/theme";
import { VersionsPage } from "../versions/page";
import { LiveLine } from "./live";

const PAGES = [
    { page: "runs", title: "Results" },
    { page: "charts", title: "Charts" },
    { page: "versions", title: "Time machine" },
] as const;
const OF_BENCHMARKS = [
    { page: "verdicts", title: "Verdicts" },
    { page: "scorecard", title: "Scorecard" },
] as const;

function App() {
    const [{ page, query }] = useAddress();
    const [facts, setFacts] = useState<RunsFacts | null>(null);
    const [problem, setProblem] = useState("");
    const [age, setAge] = useState(0);
    useEffect(() => {
        // Loaded facts stay on the page if the server has ended.
        runsFacts().then(setFacts, (error: Error) => age === 0 && setProblem(error.message));
    }, [age]);
    const [first = "runs"] = (page || "runs").split("/");
    return (
        <>
            <a class="skip" href="#content">
                To the content
            </a>
            <header class="top">
                <a class="name" href="#/runs">
                    dumbbell
                </a>
                <nav aria-label="Pages">
                    {[...PAGES, ...(facts?.is_benchmark ? OF_BENCHMARKS : [])].map((each) => (
                        <a
                            key={each.page}
                            href={`#/${each.page}${first === "run" ? "" : keep(query)}`}
                            aria-current={each.page === first ? "page" : undefined}
                        >
                            {each.title}
                        </a>
                    ))}
                </nav>
                {facts?.kind === "server" && (
                    <LiveLine changed={() => setAge((count) => count + 1)} here={first === "live"} />
                )}
                <ThemeChoice />
            </header>
            <main id="content" tabIndex={-1}>
                {problem ? (
                    <p class="bad" role="alert">
                        {problem}
                    </p>
                ) : facts === null ? (
                    <p class="quiet" role="status">
                        Reading the results…
                    </p>
                ) : (
                    <Page key={first} first={first} rest={page.slice(first.length + 1)} facts={facts} />
                )}
            </main>
        </>
    );
}

/** Returns the part of the query that links between pages keep: the filters. */
function keep(query: URLSearchParams): string {
    const filterQuery = new URLSearchParams();
    for (const [name, value] of query) if (name === "filter" || name === "convention") filterQuery.append(name, value);
    const text = filterQuery.toString();
    return text ? `?${text}` : "";
}

function Page({ first, rest, facts }: { first: string; rest: string; facts: RunsFacts }) {
    switch (first) {
        case "runs":
            return <OverviewPage facts={facts} />;
        case "charts":
            return <AnswersPage facts={facts} />;
        case "versions":
            return <VersionsPage facts={facts} />;
        case "verdicts":
            return <VerdictsPage facts={facts} />;
        case "scorecard":
            return <ScorecardPage facts={facts} />;
        case "live":
            return <LivePage facts={facts} />;
        case "run":
            return <RunPage key={rest} id={decodeURIComponent(rest)} facts={facts} />;
        default:
            return <p class="bad">There is no page {first}.</p>;
    }
}

// The token in the address is no longer needed. Remove it, so that the window and the history do not show it.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);
const app = document.getElementById("app");
if (app) {
    app.replaceChildren();
    render(<App />, app);
}
