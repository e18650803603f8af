import assert from "node:assert/strict";
import { test } from "node:test";
import { balance, shade } from "../../src/ui/shade";
import type { Inks } from "../../src/ui/theme";

const LIGHT = { ground: "#ffffff", dark: false } as Inks;
const DARK = { ground: "#101418", dark: true } as Inks;

function channels(color: string): number[] {
    return color.match(/\d+/g)!.map(Number);
}

test("a shade is darker the more there is, and never beyond its ends", () => {
    const red = [-1, 0, 0.5, 1, 2].map((part) => channels(shade(LIGHT, part))[0]!);
    assert.equal(red[0], red[1]);
    assert.ok(red[1]! > red[2]! && red[2]! > red[3]!);
    assert.equal(red[3], red[4]);
});

test("fair is the ground itself", () => {
    assert.equal(balance(LIGHT, 0), "rgb(255 255 255)");
    assert.equal(balance(DARK, 0), "rgb(16 20 24)");
});

test("less than fair is orange, more is blue, on either ground", () => {
    for (const inks of [LIGHT, DARK]) {
        const [less, more] = [channels(balance(inks, -1)), channels(balance(inks, 1))];
        assert.ok(less[0]! > less[2]!);
        assert.ok(more[2]! > more[0]!);
        assert.deepEqual(channels(balance(inks, -7)), less);
    }
});
