/** Comparisons of numbers that were computed in another order. */

import assert from "node:assert/strict";

/** Fails unless a number is within `part` of another one (absolute where that is 0). */
export function close(found: number | null | undefined, expected: number, part = 1e-9): void {
    assert.ok(typeof found === "number", `${found} is no number`);
    const off = Math.abs(found - expected);
    assert.ok(off <= part * (Math.abs(expected) || 1), `${found} is not ${expected}: off by ${off}`);
}
