/**
 * Data stored as scripts, since a page from the disk can fetch nothing. Each script calls `dumbbell.take` or `.fail`.
 */

interface Waiting {
    take: (bytes: Uint8Array<ArrayBuffer>) => void;
    fail: (error: Error) => void;
}

interface Policy {
    createScriptURL(address: string): string;
}

const waiting = new Map<string, Waiting>();
let policy: Policy | null | undefined;

/** Returns true for a page of a site, false for a page of `dumbbell serve`. */
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
        script.src = trustedAddress(`${address}.js`);
        document.head.append(script);
    });
}

/** Returns the bytes of a base64 string. */
export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
}

function listen(): void {
    const waitingScript = () =>
        waiting.get((document.currentScript as HTMLScriptElement | null)?.dataset.address ?? "");
    Object.assign(globalThis, {
        dumbbell: {
            take: (base64: string) => waitingScript()?.take(decodeBase64(base64)),
            fail: (problem: string) => waitingScript()?.fail(new Error(problem)),
        },
    });
}

/** Returns an address that browsers with trusted types accept: only a policy of the page can create one for scripts. */
function trustedAddress(address: string): string {
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
