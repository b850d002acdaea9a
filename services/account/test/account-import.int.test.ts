import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
let admin: Record<string, string>;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications, "account.registration": "closed" });
  admin = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const address = () => `${crypto.randomUUID()}@example.org`;
const externalId = () => `customer-${crypto.randomUUID()}`;
const load = (accounts: readonly unknown[], more: object = {}, headers: Record<string, string> = admin) =>
  account.send("POST", "/api/accounts/import", { headers, body: { accounts, ...more } });
const read = async (id: string) => (await account.send("GET", `/api/accounts/${id}`, { headers: admin })).body;

test("an imported account has its verified address", async () => {
  const [contact_address, external_id] = [address(), externalId()];
  const wanted = {
    contact_address,
    external_id,
    display_name: "Ada",
    timezone: "Europe/Berlin",
    metadata: { plan: "pro" },
  };
  const { status, body } = await load([wanted]);
  assert.deepEqual([status, body.created, body.items[0].outcome], [200, 1, "created"]);
  const made = await read(body.items[0].account_id);
  assert.deepEqual(
    [made.contact_address_verified, made.status, made.roles, made.metadata],
    [true, "active", ["owner"], { plan: "pro" }],
  );
  const { contact_address: theirs, external_id: id, display_name, timezone } = made;
  assert.deepEqual([theirs, id, display_name, timezone], [contact_address, external_id, "Ada", "Europe/Berlin"]);
});

test("an imported person signs in where registration is closed", async () => {
  const contact_address = address();
  await load([{ contact_address }]);
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const asked = await visitor.submit(await visitor.open(url), { address: contact_address }, "address");
  const back = await visitor.submit(asked, { code: await codeTo(account, contact_address) }, "code");
  assert.ok(back.url.searchParams.get("code"));
});

test("a bad item leaves the others", async () => {
  const { status, body } = await load([
    { contact_address: "nobody" },
    7,
    null,
    {},
    { contact_address: address(), colour: "red" },
    { contact_address: address(), locale: "xx" },
    { contact_address: address() },
  ]);
  assert.deepEqual([status, body.created, body.refused], [200, 1, 6]);
  const faults = body.items.map(({ details }: { details: { field: string; code: string }[] }) =>
    details.map(({ field, code }) => `${field} ${code}`).join(),
  );
  assert.deepEqual(faults, [
    "contact_address invalid_format",
    " invalid_type",
    " invalid_type",
    "contact_address required",
    "colour unknown_member",
    "locale unsupported",
    "",
  ]);
});

test("a second import finds the accounts of the first", async () => {
  const accounts = [{ contact_address: address(), external_id: externalId() }, { contact_address: address() }];
  const first = await load(accounts);
  const second = await load(accounts);
  assert.deepEqual([second.body.created, second.body.exists], [0, 2]);
  const ids = (answer: typeof first) => answer.body.items.map((one: { account_id: string }) => one.account_id);
  assert.deepEqual(ids(second), ids(first));
});

test("another spelling of an address is the same account", async () => {
  const contact_address = address();
  await load([{ contact_address }]);
  assert.equal((await load([{ contact_address: contact_address.toUpperCase() }])).body.exists, 1);
});

test("an item is refused whose address belongs to another account than its external id", async () => {
  const [one, other] = [
    { contact_address: address(), external_id: externalId() },
    { contact_address: address(), external_id: externalId() },
  ];
  await load([one, other]);
  const { body } = await load([{ ...one, external_id: other.external_id }]);
  assert.deepEqual([body.refused, body.items[0].details[0].code], [1, "external_id_taken"]);
});

test("a repetition within one import is refused", async () => {
  const contact_address = address();
  const { body } = await load([{ contact_address }, { contact_address }]);
  assert.deepEqual([body.created, body.items[1].details[0].code], [1, "repeated"]);
});

test("a dry run creates nothing", async () => {
  const accounts = [{ contact_address: address() }, { contact_address: "nobody" }];
  const { body } = await load(accounts, { dry_run: true });
  assert.deepEqual([body.created, body.refused, body.items[0].account_id], [1, 1, null]);
  assert.equal((await load(accounts)).body.created, 1);
});

test("a repeated request gets the first answer", async () => {
  const headers = { ...admin, "idempotency-key": crypto.randomUUID() };
  const accounts = [{ contact_address: address() }];
  const [first, second] = [await load(accounts, {}, headers), await load(accounts, {}, headers)];
  assert.deepEqual([second.body.created, second.body], [1, first.body]);
});

test("an imported account has the event of a new one", async () => {
  const { body } = await load([{ contact_address: address() }]);
  const [event] = await account.eventsOf(body.items[0].account_id, 1);
  assert.equal(event?.name, "account.created");
});

test("the audit of an imported account names the administrator", async () => {
  const { body } = await load([{ contact_address: address() }]);
  const path = `/api/accounts/${body.items[0].account_id}/audit/`;
  const { items } = (await account.send("GET", path, { headers: admin })).body;
  const made = items.find(({ action }: { action: string }) => action === "account.create");
  assert.equal(made.actor.kind, "administrator");
});

test("a thousand accounts are imported at once", async () => {
  const accounts = Array.from({ length: 1000 }, () => ({ contact_address: address(), external_id: externalId() }));
  const { body } = await load(accounts);
  assert.equal(body.created, 1000);
});

test("more than a thousand accounts are refused", async () => {
  const accounts = Array.from({ length: 1001 }, () => ({ contact_address: address() }));
  const { status, body } = await load(accounts);
  assert.deepEqual([status, body.error.details[0].field], [422, "accounts"]);
});

test("two imports of the same accounts at once create each once", async () => {
  const accounts = Array.from({ length: 50 }, () => ({ contact_address: address() }));
  const answers = await Promise.all([load(accounts), load(accounts.toReversed())]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(
    answers.reduce((sum, { body }) => sum + body.created, 0),
    50,
  );
});
