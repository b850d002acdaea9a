import assert from "node:assert/strict";
import test from "node:test";
import { isAppError } from "@signalbox/core";
import { ifMatch, isNotModified, strongEtag } from "./conditional.ts";

const etag = '"abc"';

test("If-None-Match is a list of strong and weak tags, or a star", () => {
  const matches = (header: string) => isNotModified({ headers: { "if-none-match": header } }, etag);
  for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', 'W/"x" , W/"abc"', "*", " * ", '"a,b", "abc"', '"x","abc"']) {
    assert.equal(matches(header), true, header);
  }
  for (const header of ['"abcd"', "abc", '"ab"', '"x, abc"', "", '"ABC"', 'w/"x"']) {
    assert.equal(matches(header), false, header);
  }
  assert.equal(isNotModified({ headers: {} }, etag), false);
});

test("If-Match compares strongly: a weak tag never matches, a star always does", () => {
  const refuses = (header: string) => {
    try {
      ifMatch({ headers: { "if-match": header } }, etag);
      return false;
    } catch (error) {
      assert.ok(isAppError(error) && error.code === "conflict");
      return true;
    }
  };
  for (const header of ['"abc"', '"x", "abc"', "*"]) assert.equal(refuses(header), false, header);
  for (const header of ['W/"abc"', '"x"', "abc", ""]) assert.equal(refuses(header), true, header);
  assert.doesNotThrow(() => ifMatch({ headers: {} }, etag));
});

test("a validator depends on revision, view and media type alone, and is a strong tag", () => {
  assert.match(strongEtag(7, "owner"), /^"[\w-]{22}"$/);
  assert.equal(strongEtag(7, "owner"), strongEtag(7n, "owner", "application/json"));
  const others = [strongEtag(8, "owner"), strongEtag(7, "public"), strongEtag(7, "owner", "image/webp")];
  assert.equal(new Set([strongEtag(7, "owner"), ...others]).size, 4);
});
