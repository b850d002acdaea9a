import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { codeIn, contactsOf, freshAddress, linkIn, otherThan } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";

const clock = createManualClock(new Date());
let account: Harness;
let administrator: Record<string, string>;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startAccount({ "account.require-verified-contact": true }, { clock });
  administrator = { "x-api-key": await account.firstKey() };
  contacts = contactsOf(account);
});
after(() => account.close());

const detailOf = ({
  status,
  body,
}: {
  status: number;
  body: { error: { code: string; details?: { code: string }[] } };
}) => [status, body.error.details?.[0]?.code ?? body.error.code];
const auditOf = async (id: string) =>
  (await account.send("GET", `/api/accounts/${id}/audit/`, { headers: administrator })).body.items;

test("a new address waits, is asked to confirm, and is in use with the code from its mail", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers, id } = await contacts.personWith(old);
  const waiting = (await contacts.change(headers, wanted)).body;
  assert.deepEqual([waiting.contact_address, waiting.pending_contact_address], [old, wanted]);

  const {
    status,
    body,
    headers: answered,
  } = await contacts.confirm(headers, codeIn(await account.mailbox.mailTo(wanted)));
  assert.equal(status, 200);
  assert.deepEqual(
    [body.contact_address, body.contact_address_verified, body.pending_contact_address],
    [wanted, true, null],
  );
  assert.deepEqual(body, await contacts.read(headers));
  assert.equal(answered.get("etag"), (await account.send("GET", "/api/account/", { headers })).headers.get("etag"));

  const events = await account.eventsOf(id, 4);
  assert.deepEqual(
    events.map(({ name }) => name),
    ["account.created", "account.updated", "account.contact_verified", "account.updated"],
  );
  const changed = ["contact_address", "pending_contact_address"];
  for (const event of events.slice(2)) assert.deepEqual(event.data, { ...body, changed });
  const [entry] = (await auditOf(id)).filter(({ action }: { action: string }) => action === "account.contact_confirm");
  assert.deepEqual([entry.fields, entry.actor.kind], [changed, "owner"]);
});

test("where another issuer signs people in the link says whose account asks, and confirms nothing", async () => {
  const [old, wanted] = [freshAddress("mallory"), freshAddress()];
  const { headers } = await contacts.personWith(old);
  await account.send("PATCH", "/api/account/", { headers, body: { display_name: "Mallory <b>" } });
  await contacts.change(headers, wanted);
  const mail = await account.mailbox.mailTo(wanted);
  for (const answer of [await account.send("GET", linkIn(mail)), await contacts.follow(linkIn(mail))]) {
    assert.match(answer.body, /“Mallory &lt;b&gt;” \(m…@example\.org\) asks to use a…@example\.org/);
    assert.match(answer.body, /enter the code/);
    assert.doesNotMatch(answer.body, /<form/);
  }
  assert.equal((await contacts.read(headers)).pending_contact_address, wanted);
  assert.equal((await contacts.confirm(headers, codeIn(mail))).status, 200);
  assert.equal((await contacts.follow(linkIn(mail))).status, 410);
  assert.equal((await account.send("GET", linkIn(mail))).status, 410);
});

test("of several codes at the same moment one has an effect", async () => {
  const wanted = freshAddress();
  const { headers, id } = await contacts.personWith(freshAddress());
  await contacts.change(headers, wanted);
  const code = codeIn(await account.mailbox.mailTo(wanted));
  const tries = Array.from({ length: 5 }, () => contacts.confirm(headers, code));
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  const verified = await account.eventsOf(id, 1, "account.contact_verified");
  assert.equal(verified.length, 1);
});

test("five wrong codes end the code, however many come at once", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await contacts.change(headers, wanted);
  const code = codeIn(await account.mailbox.mailTo(wanted));
  const answers = await Promise.all(Array.from({ length: 30 }, () => contacts.confirm(headers, otherThan(code))));
  const told = answers.map((answer) => detailOf(answer)[1]);
  assert.equal(told.filter((word) => word === "wrong_code").length, 5);
  assert.equal(told.filter((word) => word === "code_used_up").length, 25);
  assert.deepEqual(detailOf(await contacts.confirm(headers, code)), [422, "code_used_up"]);

  assert.equal((await contacts.resend(headers)).status, 202);
  const next = codeIn(await account.mailbox.mailTo(wanted, 2));
  assert.equal((await contacts.confirm(headers, next)).status, 200);
});

test("code and link live for an hour", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await contacts.change(headers, wanted);
  const mail = await account.mailbox.mailTo(wanted);
  clock.advance(hours(1));
  assert.equal((await account.send("GET", linkIn(mail))).status, 410);
  assert.equal((await contacts.follow(linkIn(mail))).status, 410);
  assert.deepEqual(detailOf(await contacts.confirm(headers, codeIn(mail))), [422, "code_expired"]);
  assert.equal((await contacts.read(headers)).pending_contact_address, wanted);
});

test("another code ends the one before", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await contacts.change(headers, wanted);
  const first = await account.mailbox.mailTo(wanted);
  const { status, body } = await contacts.resend(headers);
  assert.equal(status, 202);
  assert.deepEqual(body, { sent_to: `a…@example.org`, expires_at: new Date(clock.nowMs() + hours(1)).toISOString() });
  const second = await account.mailbox.mailTo(wanted, 2);
  assert.equal((await contacts.follow(linkIn(first))).status, 410);
  assert.deepEqual(detailOf(await contacts.confirm(headers, codeIn(first))), [422, "wrong_code"]);

  for (let count = 0; count < 3; count++) assert.equal((await contacts.resend(headers)).status, 202);
  const refused = await contacts.resend(headers);
  assert.deepEqual([refused.status, refused.body.error.code], [429, "rate_limited"]);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  const another = await contacts.change(headers, freshAddress());
  assert.deepEqual([another.status, another.body.error.field], [429, "contact_address"]);
  assert.equal((await contacts.read(headers)).pending_contact_address, wanted, "a refused change changes nothing");
  assert.deepEqual(detailOf(await contacts.confirm(headers, codeIn(second))), [422, "wrong_code"]);
});

test("without a pending address there is nothing to confirm or to send", async () => {
  const { headers } = await contacts.personWith(freshAddress());
  assert.deepEqual(detailOf(await contacts.confirm(headers, "12345678")), [409, "conflict"]);
  assert.deepEqual(detailOf(await contacts.resend(headers)), [409, "conflict"]);
});

test("the waiting address can be given up, also where none is in use, and again without effect", async () => {
  const wanted = freshAddress();
  const headers = account.person({ email_verified: true });
  const { id } = await contacts.read(headers);
  clock.advance(1);
  await contacts.change(headers, wanted);
  const mail = await account.mailbox.mailTo(wanted);
  clock.advance(1);
  assert.equal((await contacts.cancel(headers)).status, 204);
  assert.equal((await contacts.read(headers)).pending_contact_address, null);
  assert.equal((await contacts.follow(linkIn(mail))).status, 410);
  assert.deepEqual(detailOf(await contacts.confirm(headers, codeIn(mail))), [409, "conflict"]);
  assert.equal((await contacts.cancel(headers)).status, 204);

  const events = await account.eventsOf(id, 3);
  assert.deepEqual(
    events.map(({ data }) => "changed" in data && data.changed),
    [[], ["pending_contact_address"], ["pending_contact_address"]],
  );
  const actions = (await auditOf(id)).map(({ action }: { action: string }) => action);
  assert.deepEqual(actions, ["account.contact_cancel", "account.update", "account.create"]);
});

test("a repeated request under one Idempotency-Key confirms once", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await contacts.change(headers, wanted);
  const code = codeIn(await account.mailbox.mailTo(wanted));
  const keyed = { ...headers, "idempotency-key": crypto.randomUUID() };
  const [first, again] = [await contacts.confirm(keyed, code), await contacts.confirm(keyed, code)];
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  assert.equal(first.status, 200);
});

test("a pending account becomes active with its first confirmed address, in the same moment", async () => {
  const wanted = freshAddress();
  const headers = account.person();
  const before = await contacts.read(headers);
  assert.equal(before.status, "pending");
  await contacts.change(headers, wanted);
  const { body } = await contacts.confirm(headers, codeIn(await account.mailbox.mailTo(wanted)));
  assert.deepEqual([body.status, body.contact_address, body.contact_address_verified], ["active", wanted, true]);

  const events = await account.eventsOf(before.id, 6);
  const names = events.map(({ name }) => name).filter((name) => name !== "access.changed");
  assert.deepEqual(names.slice(2), ["account.contact_verified", "account.updated", "account.status_changed"]);
  const moved = events.find(({ name }) => name === "account.status_changed");
  assert.deepEqual(moved?.data, {
    ...body,
    changed: ["status"],
    previous_status: "pending",
    actor: "system",
    reason: null,
  });
  assert.ok(events.some(({ name }) => name === "access.changed"));
  const keys = { headers, body: { name: "key", scopes: ["account:read"] } };
  await eventually(async () => (await account.send("POST", "/api/account/api-keys/", keys)).status === 201);
});

for (const state of ["suspended", "disabled", "deleted"] as const) {
  test(`a ${state} account confirms nothing, neither by code nor by link`, async () => {
    const wanted = freshAddress();
    const { headers, id } = await contacts.personWith(freshAddress());
    await contacts.change(headers, wanted);
    const mail = await account.mailbox.mailTo(wanted);
    const move = { headers: administrator, body: { status: state, reason: "x" } };
    assert.equal((await account.send("POST", `/api/accounts/${id}/status`, move)).status, 200);
    assert.equal((await contacts.follow(linkIn(mail))).status, 403);
    await eventually(async () => (await contacts.confirm(headers, codeIn(mail))).status === 403);
    const read = await account.send("GET", `/api/accounts/${id}`, { headers: administrator });
    assert.equal(read.body.pending_contact_address, wanted);
  });
}

test("a mail arrives once the mail server is back", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await account.mailbox.leave();
  assert.equal((await contacts.change(headers, wanted)).status, 200);
  assert.equal((await contacts.resend(headers)).status, 202);
  await account.mailbox.comeBack();
  await eventually(() => {
    clock.advance(1000);
    return account.mailbox.mails.filter(({ to }) => to === wanted).length === 2;
  });
  const mails = account.mailbox.mails.filter(({ to }) => to === wanted);
  const outcomes: number[] = [];
  for (const mail of mails) outcomes.push((await contacts.confirm(headers, codeIn(mail))).status);
  assert.deepEqual(outcomes.filter((status) => status === 200).length, 1, "the later of the two confirms");
});
