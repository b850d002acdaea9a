import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { createMovableClock, minutes } from "@signalbox/core";
import { createSoftwareAuthenticator, passkeyOptionsOf } from "@signalbox/testing";
import { createFirstLink } from "../src/first-link.ts";
import { type Harness, startAccount } from "./harness.ts";
import { baseUrl, bearer, startIssuer, tablesWith, through } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, startSignIn } from "./oauth-visitor.ts";

const clock = createMovableClock();
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
  const [, onward = ""] = /<a [^>]*href="([^"]+)">Your sign-in</.exec(last.text) ?? [];
  assert.match((await visitor.open(new URL(onward, last.url))).text, /You are signed in to Signalbox as “Ada Byron”/);
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
  assert.ok(await account.eventsOf(body.id, 1, "account.contact_verified"));
  // Used once, by anybody: the next reader of a leaked link is told.
  const other = await createVisitor(account).open(link);
  assert.deepEqual([other.status, /It was used, has expired or was replaced/.test(other.text)], [410, true]);
  assert.equal(await createFirstLink(account.context, { onlyFirst: true }), null);
});

/** Opens the link in a new browser and answers its page with a new passkey. */
async function usePasskey(link: string, forgery: object = {}) {
  const visitor = createVisitor(account, { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0" });
  const authenticator = createSoftwareAuthenticator(new URL(baseUrl).origin);
  const asked = await visitor.open(link);
  const response = authenticator.create(passkeyOptionsOf(asked), forgery);
  const answer = () => visitor.submit(asked, { response }, "new-passkey");
  return { visitor, authenticator, asked, answer };
}

/** An instance of its own, whose first administrator has no way in yet. */
async function startFresh(t: TestContext) {
  const shared = account;
  account = await startIssuer({ "account.oauth.applications": applications }, { clock });
  const fresh = account;
  t.after(async () => {
    account = shared;
    await fresh.close();
  });
}

test("a first link signs the first administrator in with a new passkey, which is the second way in from then on", async (t) => {
  await startFresh(t);
  const link = await newLink();
  assert.ok(
    await createFirstLink(account.context, { onlyFirst: true }),
    "nobody can sign in yet, so there is another one",
  );
  assert.equal((await createVisitor(account).open(link)).status, 410, "the earlier one has ended");
  const masked = await createFirstLink(account.context, { onlyFirst: true, masked: true });
  assert.match(masked ?? "", /\/oauth\/first-link\/sbx_link_…$/);
  const { visitor, authenticator, answer } = await usePasskey(await newLink());
  const last = await answer();
  assert.equal(last.status, 200);
  assert.match(last.text, /You are signed in as .*, the first administrator\. From now on, sign in with this passkey/);
  assert.match(last.text, />Open the console<.*>Read the documentation</s);
  const { url, finish } = await startSignIn(account, { scope: "openid account:read account:admin" });
  const headers = bearer((await finish((await visitor.open(url)).url)).access_token);
  const { items } = (await account.send("GET", "/api/account/passkeys/", { headers })).body;
  assert.deepEqual(
    items.map(({ name }: { name: string }) => name),
    ["Firefox, Linux"],
  );
  const log = (await account.send("GET", "/api/account/audit/", { headers })).body.items;
  const actions = log.map(({ action }: { action: string }) => action);
  for (const action of ["sign_in", "passkey.add", "account.create_first_link"])
    assert.ok(actions.includes(action), action);
  assert.equal(await createFirstLink(account.context, { onlyFirst: true }), null, "there is a second way in");

  const other = createVisitor(account);
  const again = await startSignIn(account);
  const signIn = await other.open(again.url);
  const back = await other.submit(signIn, { response: authenticator.use(passkeyOptionsOf(signIn)) }, "passkey");
  assert.ok(back.url.searchParams.has("code"), "the passkey signs in without the link");
});

test("a passkey uses a link once, before its end, and for this deployment and this browser's page alone", async () => {
  const wrong = {
    "another origin": { origin: "https://signalbox.example.evil.example" },
    "another relying party": { rpId: "evil.example" },
    "nobody's verification": { flags: 0x01 },
    "another challenge": { challenge: "AAAA" },
    "a use": { type: "webauthn.get" },
  };
  const link = await newLink();
  for (const [name, forgery] of Object.entries(wrong)) {
    const refused = await (await usePasskey(link, forgery)).answer();
    assert.deepEqual([refused.status, /The passkey was not added\. Try again/.test(refused.text)], [422, true], name);
  }
  const [mine, theirs] = [await usePasskey(link), await usePasskey(link)];
  const response = mine.authenticator.create(passkeyOptionsOf(mine.asked));
  const swapped = await theirs.visitor.submit(theirs.asked, { response }, "new-passkey");
  assert.equal(swapped.status, 422, "what one page asked for is nothing at another");
  const late = await usePasskey(link);
  assert.equal((await mine.answer()).status, 200, "none of that used the link up");
  for (const { answer } of [theirs, late]) {
    const ended = await answer();
    assert.deepEqual([ended.status, /no longer works/.test(ended.text)], [410, true]);
  }
  const tooLate = await usePasskey(await newLink());
  clock.advance(minutes(10));
  assert.equal((await tooLate.answer()).status, 410);
});

test("a first link signs nobody in with a passkey that exists", async () => {
  const visitor = createVisitor(account);
  const signIn = await visitor.open((await startSignIn(account)).url);
  const authenticator = createSoftwareAuthenticator(new URL(baseUrl).origin);
  const response = authenticator.create(passkeyOptionsOf(signIn));
  assert.equal((await visitor.submit(signIn, { response, step: "new-passkey" }, "passkey")).status, 400);
  const { visitor: first, asked, authenticator: known } = await usePasskey(await newLink());
  const use = known.use(passkeyOptionsOf(asked));
  assert.equal((await first.submit(asked, { response: use, step: "passkey" }, "new-passkey")).status, 422);
});

test("opening a first link uses nothing up", async () => {
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

test("a first link refuses the address of another account", async () => {
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
  assert.deepEqual([nameless.status, /Enter a name/.test(nameless.text)], [422, true]);
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
