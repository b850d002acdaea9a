import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

const path = "/api/account/settings/";

test("the settings are one resource at both of their paths", async () => {
  const headers = account.person({ locale: "de" });
  const [own, short] = await Promise.all([
    account.send("GET", path, { headers }),
    account.send("GET", "/api/settings/", { headers }),
  ]);
  assert.equal(own.status, 200);
  assert.deepEqual(
    { ...own.body, updated_at: "" },
    {
      locale: "de",
      timezone: "UTC",
      notifications: { product_updates: false },
      updated_at: "",
      links: { self: "/api/account/settings/", account: "/api/account/" },
    },
  );
  assert.deepEqual(short.body, own.body);
  assert.equal(short.headers.get("etag"), own.headers.get("etag"));
});

test("a change of locale through the settings moves both resources and announces both", async () => {
  const headers = account.person();
  const before = await account.send("GET", "/api/account/", { headers });
  const changed = await account.send("PATCH", "/api/settings/", { headers, body: { locale: "fr" } });
  assert.equal(changed.status, 200);
  const after = await account.send("GET", "/api/account/", { headers });
  assert.equal(after.body.locale, "fr");
  assert.notEqual(after.headers.get("etag"), before.headers.get("etag"));
  const events = await account.eventsOf(before.body.id, 3);
  assert.deepEqual(
    events.map(({ name, data }) => [name, "changed" in data && data.changed]),
    [
      ["account.created", []],
      ["account.updated", ["locale"]],
      ["account.settings_updated", ["locale"]],
    ],
  );
});

test("a notification choice leaves the account's validator alone", async () => {
  const headers = account.person();
  const before = await account.send("GET", "/api/account/", { headers });
  const changed = await account.send("PATCH", path, { headers, body: { notifications: { product_updates: true } } });
  assert.equal(changed.body.notifications.product_updates, true);
  assert.equal(
    (await account.send("GET", "/api/account/", { headers })).headers.get("etag"),
    before.headers.get("etag"),
  );
  const events = await account.eventsOf(before.body.id, 2);
  assert.equal(events[1]?.name, "account.settings_updated");
});

test("a merge patch reaches inside notifications and an empty one changes nothing", async () => {
  const headers = { ...account.person(), "content-type": "application/merge-patch+json" };
  const before = await account.send("GET", path, { headers: { authorization: headers.authorization } });
  const after = await account.send("PATCH", path, { headers, body: { notifications: {} } });
  assert.deepEqual(after.body, before.body);
});

test("PUT needs every member, since none is nullable", async () => {
  const headers = account.person();
  const { status, body } = await account.send("PUT", path, { headers, body: { locale: "en", notifications: {} } });
  assert.equal(status, 422);
  const named = body.error.details.map(({ field, code }: Record<string, string>) => `${field} ${code}`).sort();
  assert.deepEqual(named, ["notifications.product_updates required", "timezone required"]);
  const whole = { locale: "en", timezone: "Asia/Tokyo", notifications: { product_updates: true } };
  const replaced = await account.send("PUT", path, { headers, body: whole });
  assert.equal(replaced.status, 200);
  assert.deepEqual({ ...replaced.body, ...whole }, replaced.body);
});

test("read-only members of the settings are named as such", async () => {
  const headers = account.person();
  const { body } = await account.send("PATCH", path, {
    headers,
    body: { updated_at: "now", links: {}, display_name: "x" },
  });
  const named = Object.fromEntries(body.error.details.map(({ field, code }: Record<string, string>) => [field, code]));
  assert.deepEqual(named, { updated_at: "read_only", links: "read_only", display_name: "unknown_member" });
});

test("a stale If-Match on the settings changes nothing", async () => {
  const headers = account.person();
  const stale = { ...headers, "if-match": '"another"' };
  const { status } = await account.send("PUT", path, {
    headers: stale,
    body: { locale: "de", timezone: "UTC", notifications: { product_updates: true } },
  });
  assert.equal(status, 409);
  assert.equal((await account.send("GET", path, { headers })).body.locale, "en");
});
