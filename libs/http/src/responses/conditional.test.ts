import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
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

test("If-Modified-Since counts without If-None-Match, where a time of change is known and the date is HTTP's", () => {
  const changed = "Tue, 06 Jan 2026 08:49:37 GMT";
  const matches = (headers: IncomingHttpHeaders, lastModified?: string) =>
    isNotModified({ headers }, etag, lastModified);
  for (const since of [changed, "Tuesday, 06-Jan-26 08:49:37 GMT", "Tue Jan  6 08:49:37 2026"])
    assert.equal(matches({ "if-modified-since": since }, changed), true, since);
  for (const since of [
    "Tue, 06 Jan 2026 08:49:36 GMT",
    "2027-01-01",
    "1798761600000",
    "Tue, 99 Jan 2027 08:49:37 GMT",
    "",
  ])
    assert.equal(matches({ "if-modified-since": since }, changed), false, since);
  assert.equal(matches({ "if-modified-since": changed }), false);
  assert.equal(matches({ "if-modified-since": changed, "if-none-match": '"other"' }, changed), false);
  const earlier = { "if-modified-since": "Tue, 06 Jan 2026 08:49:36 GMT" };
  assert.equal(matches({ ...earlier, "if-none-match": etag }, changed), true);
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
