import assert from "node:assert/strict";
import { test } from "node:test";
import { freeLook, markerPath, onGround } from "../../src/ui/looks";

test("looks of the first thirty things are all different", () => {
    const looks = Array.from({ length: 30 }, (_, index) => JSON.stringify(freeLook(index)));
    assert.equal(new Set(looks).size, 30);
});

test("looks begin again behind the last", () => {
    assert.deepEqual(freeLook(30), freeLook(0));
    assert.deepEqual(freeLook(0).dashes, []);
});

test("colours stay as they are on a light page", () => {
    assert.equal(onGround("#000000", false), "#000000");
});

test("black is light on a dark page, a light colour stays", () => {
    assert.equal(onGround("#000000", true), "rgb(191 191 191)");
    assert.equal(onGround("#e69f00", true), "#e69f00");
});

test("what is no colour in hexadecimal stays", () => {
    assert.equal(onGround("red", true), "red");
    assert.equal(onGround("", true), "");
});

test("markers have different outlines, and an unknown one is a circle", () => {
    const names = ["o", "s", "^", "v", "<", ">", "D", "p", "h", "8", "*", "+", "x"];
    assert.equal(new Set(names.map((name) => markerPath(name, 0, 0, 10))).size, names.length);
    assert.equal(markerPath("nothing", 0, 0, 10), markerPath("o", 0, 0, 10));
});

test("a square lies around its place", () => {
    const numbers = [...markerPath("s", 100, 50, 10).matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [
        Number(x),
        Number(y),
    ]);
    assert.equal(numbers.length, 4);
    const mean = (place: 0 | 1) => numbers.reduce((sum, point) => sum + point[place]!, 0) / 4;
    assert.ok(Math.abs(mean(0) - 100) < 0.01 && Math.abs(mean(1) - 50) < 0.01);
});
