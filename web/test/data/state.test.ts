import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, readAddress, withChanges } from "../../src/data/state";

test("an empty address is the first page without choices", () => {
    for (const empty of ["", "#", "#/"]) {
        const { page, query } = readAddress(empty);
        assert.equal(page, "");
        assert.equal(query.size, 0);
    }
});

test("a page and its choices are read", () => {
    const { page, query } = readAddress("#/runs?filter=scheme:cubic&filter=run:1..3&sort=-goodput_mbps");
    assert.equal(page, "runs");
    assert.deepEqual(query.getAll("filter"), ["scheme:cubic", "run:1..3"]);
    assert.equal(query.get("sort"), "-goodput_mbps");
});

test("a page with parts keeps them as they are", () => {
    assert.equal(readAddress("#/run/d1%2Fpath/cubic?flow=1").page, "run/d1%2Fpath/cubic");
});

test("an address without choices has no question mark", () => {
    assert.equal(addressOf("charts", new URLSearchParams()), "#/charts");
});

test("what an address was made of is read from it", () => {
    for (const text of ["a b", "50 % & more", "a=b?c#d", "Größe ≥ 1", "+", 'it\'s "quoted"', ""]) {
        const query = new URLSearchParams();
        query.append("filter", text);
        query.append("filter", "second");
        const back = readAddress(addressOf("runs", query));
        assert.equal(back.page, "runs");
        assert.deepEqual(back.query.getAll("filter"), [text, "second"]);
    }
});

test("a change replaces all values of its name and leaves the others", () => {
    const query = new URLSearchParams("filter=a&filter=b&sort=x");
    assert.equal(withChanges(query, { filter: "c" }).toString(), "sort=x&filter=c");
});

test("a list gives a name several values, an empty one and null remove it", () => {
    const query = new URLSearchParams("filter=a&sort=x");
    assert.deepEqual(withChanges(query, { filter: ["b", "c"] }).getAll("filter"), ["b", "c"]);
    assert.equal(withChanges(query, { filter: [] }).toString(), "sort=x");
    assert.equal(withChanges(query, { filter: null }).toString(), "sort=x");
});

test("an empty text is a value", () => {
    assert.equal(withChanges(new URLSearchParams(), { search: "" }).toString(), "search=");
});

test("a change leaves the query that it was made of as it was", () => {
    const query = new URLSearchParams("filter=a");
    withChanges(query, { filter: null, page: "2" });
    assert.equal(query.toString(), "filter=a");
});
