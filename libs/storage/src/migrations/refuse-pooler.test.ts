import assert from "node:assert/strict";
import { test } from "node:test";
import { MigrationError } from "./migration-history.ts";
import { type Asked, isOfPooler, refusePooler } from "./refuse-pooler.ts";

/** A connection whose statements are answered by these processes of the server, one after another. */
function answeredBy(...pids: number[]): Asked & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async query(text) {
      asked.push(text);
      return { rows: text.startsWith("select") ? [{ pid: pids.shift() ?? 0 }] : [] };
    },
  };
}

test("connections that keep their processes are taken", async () => {
  const second = answeredBy(12);
  await refusePooler(answeredBy(11, 11), second);
  assert.deepEqual(second.asked.at(-1), "rollback");
});

for (const [what, first, second] of [
  ["the process of the first connection serves the second", [11, 12], [11]],
  ["the first connection changes its process", [11, 13], [12]],
] as const) {
  test(`a pooler of transactions is refused: ${what}`, async () => {
    const other = answeredBy(...second);
    await assert.rejects(refusePooler(answeredBy(...first), other), MigrationError);
    assert.equal(other.asked.at(-1), "rollback");
  });
}

test("a refusal of our start-up parameters is a pooler's", () => {
  assert.ok(isOfPooler("unsupported startup parameter: options"));
  assert.ok(!isOfPooler("password authentication failed"));
});
