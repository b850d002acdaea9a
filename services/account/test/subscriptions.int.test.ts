import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventOf, type SubscriptionEvent, subscriptions } from "@signalbox/contracts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

type Headers = Record<string, string>;
const { accountChanged } = subscriptions;
/** Resolves a record as the gateway does: this subgraph resolves the payload's reference for the subscriber. */
async function resolved(event: SubscriptionEvent, listener: Headers) {
  const payload = accountChanged.payloadOf(event);
  assert.ok(payload);
  const text = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account { id displayName contactAddress
    contactAddressVerified pendingContactAddress locale timezone status createdAt updatedAt
    settings { locale timezone notifications { productUpdates } updatedAt } } } }`;
  const { data } = await account.query(listener, text, { of: [payload.account] });
  return { account: data._entities[0], changed: payload.changed as string[] };
}

test("each change of an account resolves to the account as it is now, for its owner and nobody else", async () => {
  const headers = account.person({ name: "Ada" });
  const { id } = (await account.send("GET", "/api/account/", { headers })).body;
  const patch = (path: string, body: object) => account.send("PATCH", path, { headers, body });
  await patch("/api/account/", { display_name: "Eve" });
  await patch("/api/account/settings/", { notifications: { product_updates: true } });
  await account.send("POST", "/api/account/status/", { headers, body: { status: "disabled" } });

  const records = (await account.eventsOf(id, 5)).filter(({ name }) => accountChanged.events.includes(name));
  const verified = { ...eventOf("account.contact_verified").example, id };
  const events: SubscriptionEvent[] = [...records, { name: "account.contact_verified", data: verified }];
  assert.deepEqual(
    events.map(({ name }) => name),
    ["account.updated", "account.settings_updated", "account.status_changed", "account.contact_verified"],
  );
  const own = (await account.send("GET", "/api/account/", { headers })).body;
  for (const event of events) {
    const { account: seen, changed } = await resolved(event, headers);
    assert.deepEqual(
      [seen.id, seen.displayName, seen.status, seen.updatedAt, seen.settings.notifications.productUpdates],
      [id, "Eve", "disabled", own.updated_at, true],
    );
    assert.ok(!Object.values(seen).includes(undefined), event.name);
    assert.ok(changed.length > 0);
    assert.equal((await resolved(event, account.person())).account, null);
  }
});
