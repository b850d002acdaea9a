import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canaryAccountId } from "@signalbox/contracts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;

before(async () => {
  account = await startAccount({ "canary.enabled": true });
});
after(() => account.close());

test("account's canary goes to the log as an event and as an access state", async () => {
  const names = (await account.eventsOf(canaryAccountId, 2)).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), ["access.changed", "account.canary_changed"]);
});

test("account's canary is no account that an administrator finds", async () => {
  await account.eventsOf(canaryAccountId, 2);
  const headers = { "x-api-key": await account.firstKey() };
  const { body } = await account.send("GET", "/api/accounts/?limit=100", { headers });
  assert.ok(body.items.length > 0 && !body.items.some(({ id }: { id: string }) => id === canaryAccountId));
});
