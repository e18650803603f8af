import assert from "node:assert/strict";
import test from "node:test";
import { linesOf } from "../../src/ui/wrap";

const letters = (text: string) => text.length;

test("a text that fits is one line, and breaks behind punctuation where it does not", () => {
    assert.deepEqual(linesOf("india", 5, letters), ["india"]);
    assert.deepEqual(linesOf("default.bw_factor-0.5.rtt_ms-20", 18, letters), ["default.bw_factor-", "0.5.rtt_ms-20"]);
    assert.deepEqual(linesOf("cubic*2+bbr", 8, letters), ["cubic*2+", "bbr"]);
});

test("a part that is wider than a line breaks anywhere, and nothing of the text is lost", () => {
    assert.deepEqual(linesOf("abcdefgh", 3, letters), ["abc", "def", "gh"]);
    const text = "very-long-".repeat(40) + "x".repeat(50);
    const lines = linesOf(text, 17, letters);
    assert.equal(lines.join(""), text);
    assert.ok(lines.every((line) => line.length <= 17));
    assert.deepEqual(
        linesOf("a👍b", 1, (each) => [...each].length),
        ["a", "👍", "b"],
    );
});
