import assert from "node:assert/strict";
import type { Harness } from "./harness.ts";

interface Credential {
  readonly headers: Record<string, string>;
  /** Its path, and the path of its rotation. */
  readonly at: string;
  readonly rotateAt: string;
  /** The validator in the answer that created it. */
  readonly etag: string;
}

/**
 * Renames a key or client and checks `If-Match` on every change: the old validator is refused, the present one is
 * accepted.
 */
export async function holdsToIfMatch(account: Harness, { headers, at, rotateAt, etag: stale }: Credential) {
  const { headers: answered, body: current } = await account.send("PATCH", at, { headers, body: { name: "other" } });
  const attempts = [
    ["PATCH", at, { name: "third" }],
    ["PATCH", at, { name: "other" }],
    ["POST", rotateAt, {}],
    ["DELETE", at, undefined],
  ] as const;
  const attempt = ([method, where, body]: (typeof attempts)[number], etag: string) =>
    account.send(method, where, { headers: { ...headers, "if-match": etag }, body });
  const list = at.slice(0, at.lastIndexOf("/") + 1);
  for (const each of attempts) {
    const { status, body } = await attempt(each, stale);
    assert.deepEqual([status, body.error.code, body.error.field], [409, "conflict", "If-Match"], each[0]);
  }
  assert.deepEqual((await account.send("GET", at, { headers })).body, current);
  assert.equal((await account.send("GET", list, { headers })).body.items.length, 1);
  let etag = answered.get("etag") ?? "";
  for (const each of [attempts[0], attempts[2], attempts[3]]) {
    assert.ok((await attempt(each, etag)).status < 300, each[0]);
    etag = (await account.send("GET", at, { headers })).headers.get("etag") ?? "";
  }
}
