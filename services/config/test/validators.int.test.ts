import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Harness, setProperty, startConfig } from "./harness.ts";

let config: Harness;
const person = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const changing = ["/api/v1/config/", "/api/v2/settings/"];
const validated = [...changing, "/api/v1/env/"];

test("a matching validator, alone, weak, in a list or as *, gives 304 with the headers of the 200", async () => {
  for (const path of validated) {
    const full = await config.send(person, path);
    const etag = full.headers.get("etag") ?? "";
    assert.match(etag, /^"[^"]+"$/, "strong");
    for (const match of [etag, `W/${etag}`, `"other", ${etag}`, `"a",W/${etag} , "b"`, "*"]) {
      const answer = await config.send(person, path, { headers: { "if-none-match": match } });
      assert.deepEqual([answer.status, answer.text], [304, ""], `${path} ${match}`);
      assert.match(full.headers.get("last-modified") ?? "", / GMT$/);
      for (const name of ["etag", "cache-control", "vary"]) {
        assert.equal(answer.headers.get(name), full.headers.get(name), name);
      }
    }
    const other = await config.send(person, path, { headers: { "if-none-match": '"other"' } });
    assert.equal(other.status, 200);
  }
});

test("a resource that has not changed since If-Modified-Since is 304, unless If-None-Match names another", async () => {
  for (const path of validated) {
    const since = (await config.send(person, path)).headers.get("last-modified") ?? "";
    const dated = await config.send(person, path, { headers: { "if-modified-since": since } });
    assert.deepEqual([dated.status, dated.text], [304, ""], path);
    const before = new Date(Date.parse(since) - 1_000).toUTCString();
    const headers = [{ "if-modified-since": before }, { "if-modified-since": since, "if-none-match": '"other"' }];
    for (const each of headers) assert.equal((await config.send(person, path, { headers: each })).status, 200, path);
  }
});

test("a validator belongs to the representation, not to the token", async () => {
  for (const path of validated) {
    const scopes = ["account:read", "env:read"] as const;
    const [one, other] = [testPerson({ scopes }), testPerson({ scopes })];
    const etag = (await config.send(one, path)).headers.get("etag") ?? "";
    assert.equal((await config.send(other, path, { headers: { "if-none-match": etag } })).status, 304);
  }
});

test("a validator gives nothing to callers without access", async () => {
  const etag = (await config.send(person, "/api/v1/config/")).headers.get("etag") ?? "";
  assert.equal((await config.send(null, "/api/v1/config/", { headers: { "if-none-match": etag } })).status, 401);
});

test("a change of a published value changes the validators of both resources, and nothing else does", async () => {
  const etags = () => Promise.all(changing.map(async (path) => (await config.send(person, path)).headers.get("etag")));
  const before = await etags();
  assert.deepEqual(await etags(), before);
  const input = { name: "limits.maxPageSize", value: 50, expectedRevision: "0" };
  await config.graphql(person, setProperty, { input });
  const changed = await eventually(async () => {
    const now = await etags();
    return now[0] !== before[0] && now;
  });
  assert.notEqual(changed[1], before[1]);
  const [path = ""] = changing;
  const answer = await config.send(person, path, { headers: { "if-none-match": String(before[0]) } });
  assert.deepEqual([answer.status, answer.body.limits.maxPageSize], [200, 50]);
});
