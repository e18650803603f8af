/** Answers that were written as scripts: a page from the disk can fetch nothing. Each calls `dumbbell.take` or `.fail`. */

interface Waiting {
    take: (bytes: Uint8Array<ArrayBuffer>) => void;
    fail: (error: Error) => void;
}

interface Policy {
    createScriptURL(address: string): string;
}

const waiting = new Map<string, Waiting>();
let policy: Policy | null | undefined;

/** Returns true for a page of a site, false for one of `dumbbell serve`. */
export function isWritten(): boolean {
    return typeof document !== "undefined" && document.documentElement.hasAttribute("data-written");
}

export function readWritten(address: string): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((take, fail) => {
        listen();
        const script = document.createElement("script");
        const end = (error: Error) => {
            waiting.delete(address);
            script.remove();
            fail(error);
        };
        waiting.set(address, { take, fail });
        script.dataset.address = address;
        script.onload = () => end(new Error(`${address}: holds no answer`)); // nothing happens if it was taken
        script.onerror = () =>
            end(new Error("these pages do not have it: `dumbbell serve` shows every run of the results"));
        script.src = trusted(`${address}.js`);
        document.head.append(script);
    });
}

/** Returns the bytes of a text in base64. */
export function decoded(base64: string): Uint8Array<ArrayBuffer> {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
}

function listen(): void {
    const asked = () => waiting.get((document.currentScript as HTMLScriptElement | null)?.dataset.address ?? "");
    Object.assign(globalThis, {
        dumbbell: {
            take: (base64: string) => asked()?.take(decoded(base64)),
            fail: (problem: string) => asked()?.fail(new Error(problem)),
        },
    });
}

/** Browsers with trusted types take the addresses of scripts only from a policy that the page allows. */
function trusted(address: string): string {
    if (policy === undefined) {
        const { trustedTypes } = globalThis as {
            trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
        };
        policy = trustedTypes?.createPolicy("dumbbell-data", { createScriptURL: dataOnly }) ?? null;
    }
    return policy ? policy.createScriptURL(address) : dataOnly(address);
}

function dataOnly(address: string): string {
    if (!address.startsWith("data/") || /(^|\/)(\.|%2e){1,2}(\/|$)/i.test(address))
        throw new Error(`${address}: no data`);
    return address;
}
