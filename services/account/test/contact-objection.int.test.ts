import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { EventData, EventName } from "@signalbox/contracts";
import { createMovableClock, hours, minutes } from "@signalbox/core";
import type { ReceivedEvent } from "@signalbox/events";
import { inTransaction } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { readState, writeState } from "../src/identity/state/state-store.ts";
import { findIssuedToken, recordIssuedToken } from "../src/sign-ins/issued-tokens.ts";
import { codeIn, contactsOf, freshAddress, linkIn, otherThan } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";
import { rowsWith } from "./rows-with.ts";

const clock = createMovableClock();
let account: Harness;
let administrator: Record<string, string>;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startAccount({}, { clock });
  administrator = { "x-api-key": await account.firstKey() };
  contacts = contactsOf(account);
});
after(() => account.close());

const mailTo = (address: string, count = 1) => account.mailbox.mailTo(address, count);
const changedBy = (event: ReceivedEvent<EventName> | undefined) =>
  event && "changed" in event.data && event.data.changed;
const contactOf = async (headers: Record<string, string>) => {
  const { contact_address, contact_address_verified, pending_contact_address } = await contacts.read(headers);
  return [contact_address, contact_address_verified, pending_contact_address];
};

test("an objection of the old address cancels the pending change", async () => {
  const [old, wanted] = [freshAddress(), freshAddress("mallory")];
  const { headers, id } = await contacts.personWith(old);
  await contacts.change(headers, wanted);
  const [told, asked] = [await mailTo(old), await mailTo(wanted)];
  assert.match(told.text, /m…@example\.org/);
  assert.ok(!told.text.includes(wanted), "the old mailbox may be somebody else's by now");
  assert.equal((await contacts.follow(linkIn(told))).status, 200);
  assert.deepEqual(await contactOf(headers), [old, true, null]);

  assert.equal((await contacts.follow(linkIn(asked))).status, 410);
  assert.equal((await contacts.confirm(headers, codeIn(asked))).status, 409);
  assert.match((await mailTo(wanted, 2)).subject, /undone/);
  const events = await account.eventsOf(id, 2, "account.updated");
  assert.deepEqual(changedBy(events.at(-1)), ["pending_contact_address"]);
  const audit = await account.send("GET", `/api/accounts/${id}/audit/`, { headers: administrator });
  const entry = audit.body.items.find(({ action }: { action: string }) => action === "account.contact_object");
  assert.deepEqual([entry.fields, entry.actor.credential], [["pending_contact_address"], "contact-link"]);
  assert.equal((await contacts.follow(linkIn(told))).status, 410, "a link works once");
});

test("after the confirmation the old address can object still, and is in use again, verified", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers, id } = await contacts.personWith(old);
  await contacts.adopt(headers, wanted);
  assert.deepEqual(await contactOf(headers), [wanted, true, null]);
  const link = linkIn(await mailTo(old, 2));
  assert.equal((await account.send("GET", link)).status, 200);
  assert.deepEqual(await contactOf(headers), [wanted, true, null], "following a link changes nothing");
  assert.equal((await contacts.follow(link)).status, 200);
  assert.deepEqual(await contactOf(headers), [old, true, null]);
  assert.match((await mailTo(wanted, 2)).subject, /undone/);
  const events = await account.eventsOf(id, 3, "account.updated");
  assert.deepEqual(changedBy(events.at(-1)), ["contact_address"]);
});

test("an objection after the confirmation ends the sign-ins at the built-in issuer, and no client's own tokens", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers, id: accountId } = await contacts.personWith(old);
  const { pool, service } = openInside(account);
  const [session, grantId] = [crypto.randomUUID(), crypto.randomUUID()];
  const issued = { clientId: "desk", accountId, expiresAt: new Date(clock.nowMs() + minutes(10)) };
  const [signIns, programs] = [crypto.randomUUID(), crypto.randomUUID()];
  await writeState(service, "Session", session, { accountId }, new Date(clock.nowMs() + hours(24)));
  await writeState(service, "Grant", grantId, { accountId }, new Date(clock.nowMs() + hours(24)));
  await inTransaction(pool, async (tx) => {
    assert.equal(await recordIssuedToken(service, tx, { ...issued, jti: signIns, grantId }), "recorded");
    assert.equal(await recordIssuedToken(service, tx, { ...issued, jti: programs, grantId: null }), "recorded");
  });
  await contacts.adopt(headers, wanted);
  assert.ok(await readState(service, "Session", session), "a change alone ends nothing");

  await contacts.follow(linkIn(await mailTo(old, 2)));
  assert.equal(await readState(service, "Session", session), undefined);
  assert.equal(await readState(service, "Grant", grantId), undefined);
  assert.equal(await findIssuedToken(service, signIns), null);
  assert.ok(await findIssuedToken(service, programs));
  const revoked = await eventually(async () => {
    const changes = (await account.eventsOf(accountId, 1, "access.changed")).map(
      ({ data }) => data as EventData<"access.changed">,
    );
    return changes.some(({ kind }) => kind === "token") && changes.filter(({ kind }) => kind === "token");
  });
  assert.deepEqual(
    revoked.map(({ id }) => id),
    [`jti:signalbox:${signIns}`],
  );
});

test("a removed address can object", async () => {
  const old = freshAddress();
  const { headers } = await contacts.personWith(old);
  await contacts.change(headers, null);
  assert.deepEqual(await contactOf(headers), [null, false, null]);
  assert.equal((await contacts.follow(linkIn(await mailTo(old)))).status, 200);
  assert.deepEqual(await contactOf(headers), [old, true, null]);
});

test("a thief who changes the address twice loses to its first holder", async () => {
  const [owner, thief, thiefToo, third] = [freshAddress("owner"), freshAddress(), freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(owner);
  await contacts.adopt(headers, thief);
  await contacts.adopt(headers, thiefToo);
  await contacts.change(headers, third);
  const thiefsLinks = [
    linkIn(await mailTo(thief, 2)),
    linkIn(await mailTo(thief, 3)),
    linkIn(await mailTo(thiefToo, 2)),
  ];

  assert.equal((await contacts.follow(linkIn(await mailTo(owner, 2)))).status, 200);
  assert.deepEqual(await contactOf(headers), [owner, true, null]);
  for (const link of thiefsLinks) assert.equal((await contacts.follow(link)).status, 410);
  assert.equal((await contacts.follow(linkIn(await mailTo(third)))).status, 410);
  assert.deepEqual(await contactOf(headers), [owner, true, null]);
});

test("a thief who removes the address before setting another loses as well", async () => {
  const [owner, thief] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(owner);
  await contacts.change(headers, null);
  await contacts.adopt(headers, thief);
  await contacts.change(headers, null);
  assert.equal((await contacts.follow(linkIn(await mailTo(owner)))).status, 200);
  assert.deepEqual(await contactOf(headers), [owner, true, null]);
  assert.equal((await contacts.follow(linkIn(await mailTo(thief, 2)))).status, 410);
});

test("a thief who objects first loses to the earlier holder still", async () => {
  const [owner, thief, next] = [freshAddress(), freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(owner);
  await contacts.adopt(headers, thief);
  await contacts.adopt(headers, next);
  assert.equal((await contacts.follow(linkIn(await mailTo(thief, 2)))).status, 200);
  assert.deepEqual(await contactOf(headers), [thief, true, null]);
  assert.equal((await contacts.follow(linkIn(await mailTo(owner, 2)))).status, 200);
  assert.deepEqual(await contactOf(headers), [owner, true, null]);
});

test("the window begins anew with the confirmation, so a change cannot wait until it is over", async () => {
  const [owner, thief] = [freshAddress(), freshAddress()];
  const { headers, signInAgain } = await contacts.personWith(owner);
  await contacts.change(headers, thief);
  const first = linkIn(await mailTo(owner));
  clock.advance(hours(72));
  assert.equal((await contacts.follow(first)).status, 410);
  const later = signInAgain();
  await contacts.resend(later);
  assert.equal((await contacts.confirm(later, codeIn(await mailTo(thief, 2)))).status, 200);
  assert.deepEqual(await contactOf(later), [thief, true, null]);

  clock.advance(hours(72) - minutes(1));
  assert.equal((await contacts.follow(linkIn(await mailTo(owner, 2)))).status, 200);
  assert.deepEqual(await contactOf(signInAgain()), [owner, true, null]);
});

test("after the window the new address stays", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers, signInAgain } = await contacts.personWith(old);
  await contacts.adopt(headers, wanted);
  const link = linkIn(await mailTo(old, 2));
  clock.advance(hours(72));
  assert.equal((await account.send("GET", link)).status, 410);
  assert.equal((await contacts.follow(link)).status, 410);
  assert.deepEqual(await contactOf(signInAgain()), [wanted, true, null]);
});

test("objections at the same moment have one effect", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(old);
  await contacts.adopt(headers, wanted);
  const link = linkIn(await mailTo(old, 2));
  const statuses = (await Promise.all(Array.from({ length: 6 }, () => contacts.follow(link)))).map(
    ({ status }) => status,
  );
  assert.deepEqual(statuses.sort(), [200, 410, 410, 410, 410, 410]);
  assert.deepEqual(await contactOf(headers), [old, true, null]);
});

test("neither codes nor links are in the database or in a log, and addresses are in no log", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(old);
  await contacts.change(headers, wanted);
  const [told, asked] = [await mailTo(old), await mailTo(wanted)];
  const code = codeIn(asked);
  const links = [linkIn(told), linkIn(asked)];
  await contacts.confirm(headers, otherThan(code));
  for (const link of links) await account.send("GET", link);

  const { pool } = openInside(account);
  const tokens = links.map((link) => link.slice(link.lastIndexOf("/") + 1));
  const hex = [code, ...tokens].map((secret) => Buffer.from(secret).toString("hex"));
  const logged = JSON.stringify(account.context.logged);
  assert.match(logged, /contact-links/);
  for (const secret of [code, ...tokens, ...hex]) {
    assert.deepEqual(await rowsWith(pool, secret), []);
    assert.ok(!logged.includes(secret));
  }
  for (const address of [old, wanted]) assert.ok(!logged.includes(address));
});

test("the page behind a link forbids scripts, frames and caches", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(old);
  await account.send("PATCH", "/api/account/", { headers, body: { locale: "de" } });
  await contacts.change(headers, wanted);
  const link = linkIn(await mailTo(old));
  const missing = `${link.slice(0, -5)}AAAAA`;
  for (const [path, status, language] of [
    [link, 200, "de"],
    [missing, 404, "en"],
    ["/api/account/contact-links/x", 404, "en"],
  ] as const) {
    const answer = await account.send("GET", path, { headers: { accept: "*/*" } });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    assert.match(
      answer.headers.get("content-security-policy") ?? "",
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    assert.match(answer.body, new RegExp(`<html lang="${language}">[\\s\\S]*<title>[^<]+</title>[\\s\\S]*<h1>`));
    assert.doesNotMatch(answer.body, /<script|javascript:|src=/i);
    const base = account.context.configuration.get("http.base-url");
    for (const [, url = ""] of answer.body.matchAll(/href="([^"]*)"/g)) assert.ok(url.startsWith(`${base}/`), url);
    assert.equal(answer.body.match(/<button/g)?.length ?? 0, status === 200 ? 1 : 0);
  }
  assert.match(
    (await account.send("GET", link)).body,
    /<form method="post"><button type="submit" class="main">Der Änderung widersprechen</,
  );
  assert.equal((await account.send("GET", link, { headers: { accept: "application/json" } })).status, 406);
});
