import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createManualClock, minutes } from "@signalbox/core";
import { createFirstLink } from "../src/first-link/create-first-link.ts";
import { type Harness, startAccount } from "./harness.ts";
import { bearer, startIssuer, tablesWith, through } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, startSignIn } from "./oauth-visitor.ts";

const clock = createManualClock(new Date());
let account: Harness;
before(async () => {
  account = await startIssuer(
    { "account.oauth.applications": applications, "account.registration": "invited" },
    { clock },
  );
});
after(() => account.close());

const freshAddress = () => `${crypto.randomUUID()}@example.org`;
async function newLink(): Promise<string> {
  const link = await createFirstLink(account.context);
  assert.ok(link);
  return link;
}

/** Types the name and the address, and then the code, in a new browser. */
async function use(link: string, address: string, name = "Ada") {
  const visitor = createVisitor(account);
  const asked = await visitor.submit(await visitor.open(link), { name, address }, "address");
  return { visitor, last: await visitor.submit(asked, { code: await codeTo(account, address) }, "code") };
}

test("a first link signs the first administrator in, with a name and an address to sign in by from then on", async () => {
  const link = await newLink();
  const address = freshAddress();
  const { visitor, last } = await use(link, address, "Ada Byron");
  assert.equal(last.status, 200);
  assert.match(last.text, /You are signed in as “Ada Byron”.*, the first administrator/);
  const { url, finish } = await startSignIn(account, { scope: "openid account:read account:admin" });
  const headers = bearer((await finish((await visitor.open(url)).url)).access_token);
  const { body } = await account.send("GET", "/api/account/", { headers });
  assert.deepEqual(
    [body.display_name, body.contact_address, body.contact_address_verified],
    ["Ada Byron", address, true],
  );
  assert.equal((await account.send("GET", "/api/accounts/", { headers })).status, 200);
  const log = (await account.send("GET", "/api/account/audit/", { headers })).body.items;
  const actions = log.map(({ action }: { action: string }) => action);
  for (const action of ["sign_in", "account.update", "account.create_first_link"]) assert.ok(actions.includes(action));
  const names = (await account.eventsOf(body.id, 3)).map(({ name }) => name);
  assert.ok(names.includes("account.contact_verified"));
  // Used once, by anybody: the next reader of a leaked link is told.
  const other = await createVisitor(account).open(link);
  assert.deepEqual([other.status, /It was used, has expired or was replaced/.test(other.text)], [410, true]);
  assert.equal(await createFirstLink(account.context, { onlyFirst: true }), null);
});

test("opening a link uses nothing up, and its token is in no table and no log", async () => {
  const link = await newLink();
  const token = link.slice(link.lastIndexOf("/") + 1);
  for (const method of ["GET", "HEAD", "GET"]) assert.equal((await through(account)(link, { method })).status, 303);
  assert.deepEqual(await tablesWith(account, token), []);
  const { last } = await use(link, freshAddress());
  assert.match(last.text, /the first administrator/);
  assert.doesNotMatch(JSON.stringify(account.context.logged), new RegExp(token.slice("sbx_link_".length)));
});

test("a link ends after ten minutes and with the next one, also while its form is open", async () => {
  const first = await newLink();
  const second = await newLink();
  assert.equal((await createVisitor(account).open(first)).status, 410);
  const visitor = createVisitor(account);
  const address = freshAddress();
  const asked = await visitor.submit(await visitor.open(second), { name: "Eve", address }, "address");
  clock.advance(minutes(10));
  const late = await visitor.submit(asked, { code: await codeTo(account, address) }, "code");
  assert.ok([410, 422].includes(late.status), String(late.status));
  assert.equal((await createVisitor(account).open(second)).status, 410);
  assert.equal((await createVisitor(account).open(`${second.slice(0, -1)}-`)).status, 404);
  const third = await newLink();
  const { visitor: slow, last } = await use(third, freshAddress());
  assert.equal(last.status, 200);
  assert.equal((await slow.open(third)).status, 200);
});

test("a link that is used while another browser types its code is used up", async () => {
  const link = await newLink();
  const [visitor, address] = [createVisitor(account), freshAddress()];
  const asked = await visitor.submit(await visitor.open(link), { name: "Eve", address }, "address");
  await use(link, freshAddress());
  const late = await visitor.submit(asked, { code: await codeTo(account, address) }, "code");
  assert.deepEqual([late.status, /no longer works/.test(late.text)], [410, true]);
});

test("a name and an address are needed, and the address of another account is refused", async () => {
  const admin = { "x-api-key": await account.firstKey() };
  const taken = freshAddress();
  const { body } = await account.send("POST", "/api/v1/invitations/", { headers: admin, body: { role: "viewer" } });
  const guest = createVisitor(account);
  const page = await guest.submit(
    await guest.submit(await guest.open(body.url), {}, "sign-in"),
    { address: taken },
    "address",
  );
  await guest.submit(page, { code: await codeTo(account, taken) }, "code");

  const link = await newLink();
  const visitor = createVisitor(account);
  const form = await visitor.open(link);
  const nameless = await visitor.submit(form, { name: " ", address: freshAddress() }, "address");
  assert.deepEqual([nameless.status, /Write a name/.test(nameless.text)], [422, true]);
  const asked = await visitor.submit(nameless, { name: "Ada", address: taken }, "address");
  const refused = await visitor.submit(asked, { code: await codeTo(account, taken, 2) }, "code");
  assert.deepEqual([refused.status, /address of another account/.test(refused.text)], [422, true]);
});

test("where another issuer signs people in there is no first link", async () => {
  const elsewhere = await startAccount();
  try {
    assert.equal(await createFirstLink(elsewhere.context), null);
    assert.equal((await elsewhere.send("GET", "/oauth/first-link/sbx_link_x")).status, 404);
  } finally {
    await elsewhere.close();
  }
});
