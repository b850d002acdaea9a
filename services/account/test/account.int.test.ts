import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshAddress } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

const path = "/api/account/";

test("the first use of an identity makes its account, with every field present", async () => {
  const headers = account.person({ name: "Ada", email: "ada@example.org", email_verified: true, locale: "de" });
  const { status, headers: answered, body } = await account.send("GET", path, { headers });
  assert.equal(status, 200);
  assert.match(body.id, /^acc_/);
  assert.deepEqual(
    { ...body, id: "", created_at: "", updated_at: "" },
    {
      id: "",
      display_name: "Ada",
      external_id: null,
      contact_address: "ada@example.org",
      contact_address_verified: true,
      pending_contact_address: null,
      locale: "de",
      timezone: "UTC",
      status: "active",
      status_changed_at: null,
      status_reason: null,
      created_at: "",
      updated_at: "",
      links: { self: "/api/account/", settings: "/api/account/settings/", api_keys: "/api/account/api-keys/" },
    },
  );
  assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(answered.get("cache-control"), "private, no-cache");
  assert.match(answered.get("etag") ?? "", /^"[^"]+"$/);
});

test("twenty first uses at once make one account", async () => {
  const claims = { sub: crypto.randomUUID() };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      account.send("GET", path, { headers: account.person({ ...claims, jti: `${at}` }) }),
    ),
  );
  const ids = new Set(answers.map(({ body }) => body.id));
  assert.equal(ids.size, 1);
  const [id] = [...ids] as [string];
  const events = await account.eventsOf(id, 1);
  assert.deepEqual(
    events.map(({ name }) => name),
    ["account.created"],
  );
});

test("the form without the trailing slash answers the same", async () => {
  const headers = account.person();
  assert.equal((await account.send("GET", "/api/account", { headers })).status, 200);
});

test("a change of the display name leaves the rest alone", async () => {
  const headers = account.person();
  const before = (await account.send("GET", path, { headers })).body;
  const { status, body } = await account.send("PATCH", path, { headers, body: { display_name: "Countess" } });
  assert.equal(status, 200);
  assert.deepEqual({ ...body, updated_at: before.updated_at }, { ...before, display_name: "Countess" });
  const [, updated] = await account.eventsOf(before.id, 2);
  assert.equal(updated?.name, "account.updated");
  assert.deepEqual(updated?.data, { ...body, changed: ["display_name"] });
});

test("names in two Unicode forms are one name", async () => {
  const headers = account.person({ name: "J\u00f6rg" });
  const before = await account.send("GET", path, { headers });
  const after = await account.send("PATCH", path, { headers, body: { display_name: "Jo\u0308rg" } });
  assert.equal(after.body.display_name, "J\u00f6rg");
  assert.equal(after.headers.get("etag"), before.headers.get("etag"));
});

test("a locale is kept in its canonical form, whatever the case of its letters", async () => {
  const headers = account.person();
  const { body } = await account.send("PATCH", "/api/account/", { headers, body: { locale: "pt-br" } });
  assert.equal(body.locale, "pt-BR");
});

test("a write that changes nothing emits nothing", async () => {
  const headers = account.person({ name: "Ada" });
  const before = await account.send("GET", path, { headers });
  const { display_name, contact_address, locale, timezone } = before.body;
  for (const [method, body] of [
    ["PATCH", {}],
    ["PATCH", { display_name, contact_address, locale, timezone }],
    ["PUT", { display_name, contact_address, locale, timezone }],
    ["PUT", { display_name, locale, timezone }],
  ] as const) {
    const after = await account.send(method, path, { headers, body });
    assert.equal(after.status, 200);
    assert.deepEqual(after.body, before.body);
    assert.equal(after.headers.get("etag"), before.headers.get("etag"));
  }
  await account.send("PATCH", path, { headers, body: { display_name: "Eve" } });
  const events = await account.eventsOf(before.body.id, 2);
  assert.deepEqual(
    events.map(({ name }) => name),
    ["account.created", "account.updated"],
  );
});

test("every failing member is named at once", async () => {
  const headers = account.person({ name: "Ada" });
  const before = (await account.send("GET", path, { headers })).body;
  const { status, body } = await account.send("PATCH", path, {
    headers,
    body: { display_name: "", locale: "xx", timezone: 7, id: "acc_1", status: "active", nickname: "a" },
  });
  assert.equal(status, 422);
  assert.equal(body.error.code, "validation_error");
  const named = Object.fromEntries(body.error.details.map(({ field, code }: Record<string, string>) => [field, code]));
  assert.deepEqual(named, {
    display_name: "invalid",
    locale: "unsupported",
    timezone: "invalid_type",
    id: "read_only",
    status: "read_only",
    nickname: "unknown_member",
  });
  assert.deepEqual((await account.send("GET", path, { headers })).body, before);
});

test("PUT replaces: the absent contact address is cleared, an absent required member is refused", async () => {
  const headers = account.person({ name: "Ada", email: freshAddress(), email_verified: true });
  const { body: refused, status } = await account.send("PUT", path, { headers, body: { display_name: "Ada" } });
  assert.equal(status, 422);
  const required = refused.error.details.map(({ field, code }: Record<string, string>) => `${field} ${code}`);
  assert.deepEqual(required, ["locale required", "timezone required"]);
  const replaced = await account.send("PUT", path, {
    headers,
    body: { display_name: "Ada", locale: "en", timezone: "Europe/London" },
  });
  assert.equal(replaced.status, 200);
  assert.deepEqual([replaced.body.contact_address, replaced.body.contact_address_verified], [null, false]);
});

test("a new contact address is pending beside the one in use; null clears both", async () => {
  const email = freshAddress();
  const headers = account.person({ email, email_verified: true });
  const changed = await account.send("PATCH", path, { headers, body: { contact_address: "new@example.org" } });
  assert.equal(changed.body.contact_address, email);
  assert.equal(changed.body.pending_contact_address, "new@example.org");
  const cleared = await account.send("PATCH", path, { headers, body: { contact_address: null } });
  assert.deepEqual([cleared.body.contact_address, cleared.body.pending_contact_address], [null, null]);
});

test("an account whose verified address belongs to another account starts without one", async () => {
  const email = freshAddress();
  for (const [claimed, expected] of [
    [email, email],
    [email.toUpperCase(), null],
  ]) {
    const headers = account.person({ email: claimed, email_verified: true });
    const { body } = await account.send("GET", path, { headers });
    assert.deepEqual([body.contact_address, body.contact_address_verified], [expected, expected !== null]);
    assert.equal(body.status, "active");
  }
});

test("the validator does not depend on the token", async () => {
  const claims = { sub: crypto.randomUUID() };
  const first = await account.send("GET", path, { headers: account.person(claims) });
  const etag = first.headers.get("etag") as string;
  const again = await account.send("GET", path, {
    headers: { ...account.person(claims), "if-none-match": `"x", ${etag}` },
  });
  assert.equal(again.status, 304);
  assert.equal(again.headers.get("etag"), etag);
  assert.equal(again.body, null);
});

test("accounts of the same revision have different validators", async () => {
  const first = await account.send("GET", path, { headers: account.person() });
  const headers = { ...account.person(), "if-none-match": first.headers.get("etag") as string };
  assert.equal((await account.send("GET", path, { headers })).status, 200);
});

test("the second of two writers who read the same state is refused", async () => {
  const headers = account.person();
  const etag = (await account.send("GET", path, { headers })).headers.get("etag") as string;
  const write = (display_name: string) =>
    account.send("PATCH", path, { headers: { ...headers, "if-match": etag }, body: { display_name } });
  const answers = await Promise.all([write("one"), write("two")]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const winner = answers.find(({ status }) => status === 200);
  const loser = answers.find(({ status }) => status === 409);
  assert.equal(loser?.body.error.code, "conflict");
  assert.equal((await account.send("GET", path, { headers })).body.display_name, winner?.body.display_name);
});

test("writers who meet change one after the other: each change is kept, announced in that order, and in the audit", async () => {
  const headers = account.person();
  const { id } = (await account.send("GET", path, { headers })).body;
  const names = Array.from({ length: 12 }, (_, number) => `Writer ${number}`);
  const answers = await Promise.all(
    names.map((display_name) => account.send("PATCH", path, { headers, body: { display_name } })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    names.map(() => 200),
  );
  assert.equal(new Set(answers.map(({ headers }) => headers.get("etag"))).size, names.length);
  const events = (await account.eventsOf(id, 1 + names.length)).slice(1);
  const announced = events.map(({ data }) => (data as { display_name: string }).display_name);
  assert.deepEqual(announced.toSorted(), names.toSorted());
  assert.equal((await account.send("GET", path, { headers })).body.display_name, announced.at(-1));
  const { items } = (await account.send("GET", "/api/account/audit/", { headers })).body;
  assert.equal(items.filter(({ action }: { action: string }) => action === "account.update").length, names.length);
});

test("changes of many accounts at once share their way to the database, and each gets its own answer, event and entry", async () => {
  const writers = await Promise.all(
    Array.from({ length: 40 }, async (_, number) => {
      const headers = account.person();
      const { id } = (await account.send("GET", path, { headers })).body;
      return { headers, id, name: `Writer ${number}` };
    }),
  );
  const answers = await Promise.all(
    writers.map(({ headers, name }) => account.send("PATCH", path, { headers, body: { display_name: name } })),
  );
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.id, body.display_name]),
    writers.map(({ id, name }) => [200, id, name]),
  );
  for (const { headers, id, name } of writers) {
    const announced = await account.eventsOf(id, 1, "account.updated");
    assert.deepEqual(
      announced.map(({ data }) => (data as { display_name: string }).display_name),
      [name],
    );
    const { items } = (await account.send("GET", "/api/account/audit/", { headers })).body;
    assert.deepEqual(items[0].fields, ["display_name"]);
  }
});

test("Prefer: return=minimal answers 204 with the new validator", async () => {
  const headers = { ...account.person(), prefer: "respond-async, return=minimal" };
  const {
    status,
    headers: answered,
    body,
  } = await account.send("PATCH", path, { headers, body: { display_name: "Eve" } });
  assert.equal(status, 204);
  assert.equal(body, null);
  assert.equal(answered.get("preference-applied"), "return=minimal");
  const { prefer: _, ...plain } = headers;
  assert.equal((await account.send("GET", path, { headers: plain })).headers.get("etag"), answered.get("etag"));
});

test("a change repeated under its Idempotency-Key is made once", async () => {
  const headers = { ...account.person(), "idempotency-key": crypto.randomUUID() };
  const change = () => account.send("PATCH", path, { headers, body: { display_name: "Once" } });
  const first = await change();
  const { authorization } = headers;
  await account.send("PATCH", path, { headers: { authorization }, body: { display_name: "Later" } });
  const again = await change();
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal((await account.send("GET", path, { headers: { authorization } })).body.display_name, "Later");
  const other = await account.send("PATCH", path, { headers, body: { display_name: "Other" } });
  assert.equal(other.status, 422);
});

test("bad credentials are answered with a challenge", async () => {
  const reader = account.person({ scope: "account:read" });
  assert.equal((await account.send("PATCH", path, { headers: reader, body: {} })).status, 403);
  for (const headers of [
    {},
    { authorization: `Bearer ${account.issuer.wrong.expired()}` },
    { "x-api-key": "sbx_dev_x" },
  ]) {
    const { status, headers: answered, body } = await account.send("GET", path, { headers });
    assert.equal(status, 401);
    assert.ok(answered.get("www-authenticate"));
    assert.equal(body.error.code, "unauthorized");
  }
  const two = { ...reader, "x-api-key": "sbx_dev_x" };
  assert.equal((await account.send("GET", path, { headers: two })).status, 400);
});

test("an unsupported method is answered with the supported ones", async () => {
  const { status, headers } = await account.send("POST", path, { headers: account.person() });
  assert.equal(status, 405);
  for (const method of ["GET", "PATCH", "PUT", "DELETE"]) assert.ok(headers.get("allow")?.includes(method));
});

test("a name from before the rules may be sent back", async () => {
  const headers = account.person({ name: " Ada\u200B " });
  const { id, display_name } = (await account.send("GET", path, { headers })).body;
  assert.equal(display_name, `Account ${id.slice(-6)}`, "a name of an issuer that is none is left");
  const rename = (name: string) => account.send("PATCH", path, { headers, body: { display_name: name } });
  assert.equal((await rename(" Ada ")).body.display_name, "Ada");
  const { prisma } = openInside(account);
  await prisma.account.update({ where: { id }, data: { displayName: "Ad\u200Ba" } });
  assert.equal((await rename("Ad\u200Ba")).body.display_name, "Ad\u200Ba");
  assert.equal((await rename("Ad\u200Ba B")).status, 422);
});
