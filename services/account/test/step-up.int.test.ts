import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { requireStepUp } from "@signalbox/auth";
import { createManualClock, isAppError, minutes } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { codeIn, contactsOf, freshAddress, linkIn, otherThan } from "./contact-parts.ts";
import { startElsewhere } from "./elsewhere.ts";
import { type Harness, startAccount } from "./harness.ts";

type Headers = Record<string, string>;

const clock = createManualClock(new Date());
let account: Harness;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startAccount({}, { clock });
  contacts = contactsOf(account);
});
after(() => account.close());

/** A person with a verified address whose sign-in is a day old. */
async function longSignedIn(claims: Record<string, unknown> = {}) {
  const address = freshAddress();
  const auth_time = Math.floor(clock.nowMs() / 1000) - 24 * 3600;
  const person = { sub: crypto.randomUUID(), email: address, email_verified: true, auth_time, ...claims };
  const headers: Headers = account.person({ jti: crypto.randomUUID(), ...person });
  await contacts.read(headers);
  // A different claim, because tokens of equal claims are one token.
  const anotherToken = (): Headers => account.person({ jti: crypto.randomUUID(), uti: crypto.randomUUID(), ...person });
  return { address, headers, anotherToken };
}

const stepUp = (headers: Headers, body: object = {}) =>
  account.send("POST", "/api/account/step-up/", { headers, body });
const detailOf = ({ status, body }: Awaited<ReturnType<typeof stepUp>>) => [status, body.error.details?.[0]?.code];
/** A change that needs a recent sign-in. */
const makeKey = async (headers: Headers) =>
  (await account.send("POST", "/api/account/api-keys/", { headers, body: { name: "key", scopes: ["account:read"] } }))
    .status;

test("with the code from the mail an old sign-in counts as new for 15 minutes, in every service", async () => {
  const elsewhere = await startElsewhere(account, { clock });
  const isFreshElsewhere = async (headers: Headers) => {
    try {
      requireStepUp(await elsewhere.principalOf(headers), clock);
      return true;
    } catch (error) {
      if (!isAppError(error)) throw error;
      return false;
    }
  };
  const { headers, address, anotherToken } = await longSignedIn();
  assert.equal(await makeKey(headers), 403);
  assert.equal(await isFreshElsewhere(headers), false, "and it is remembered there now");

  const asked = await stepUp(headers);
  assert.deepEqual(
    [asked.status, asked.body],
    [202, { sent_to: "a…@example.org", expires_at: new Date(clock.nowMs() + minutes(10)).toISOString() }],
  );
  const code = codeIn(await account.mailbox.mailTo(address));
  const { status, body } = await stepUp(headers, { code });
  assert.deepEqual([status, body], [200, { valid_until: new Date(clock.nowMs() + minutes(15)).toISOString() }]);
  await eventually(async () => (await makeKey(headers)) === 201, { timeoutMs: 2000 });
  await eventually(() => isFreshElsewhere(headers), { timeoutMs: 2000 });

  const other = anotherToken();
  assert.equal(await makeKey(other), 403, "another token of the same login gains nothing");
  clock.advance(minutes(15) + 1);
  assert.equal(await makeKey(headers), 403);
  assert.equal(await isFreshElsewhere(headers), false);
  await elsewhere.close();
});

test("a restarted service knows of it", async () => {
  const { headers, address } = await longSignedIn();
  await stepUp(headers);
  await stepUp(headers, { code: codeIn(await account.mailbox.mailTo(address)) });
  const later = await startElsewhere(account, { clock });
  requireStepUp(await later.principalOf(headers), clock);
  await later.close();
});

test("the code raises the token that asked for it and no other", async () => {
  const { headers, address, anotherToken } = await longSignedIn();
  const thief = anotherToken();
  await stepUp(thief);
  const code = codeIn(await account.mailbox.mailTo(address));
  assert.deepEqual(detailOf(await stepUp(headers, { code })), [422, "wrong_code"]);
  assert.equal(await makeKey(thief), 403);
});

test("five tries, ten minutes, once", async () => {
  const { headers, address } = await longSignedIn();
  await stepUp(headers);
  const first = codeIn(await account.mailbox.mailTo(address));
  const answers = await Promise.all(Array.from({ length: 12 }, () => stepUp(headers, { code: otherThan(first) })));
  assert.equal(answers.filter((answer) => detailOf(answer)[1] === "wrong_code").length, 5);
  assert.deepEqual(detailOf(await stepUp(headers, { code: first })), [422, "code_used_up"]);

  await stepUp(headers);
  const second = codeIn(await account.mailbox.mailTo(address, 2));
  clock.advance(minutes(10));
  assert.deepEqual(detailOf(await stepUp(headers, { code: second })), [422, "code_expired"]);

  await stepUp(headers);
  const third = codeIn(await account.mailbox.mailTo(address, 3));
  assert.equal((await stepUp(headers, { code: third })).status, 200);
  assert.deepEqual(detailOf(await stepUp(headers, { code: third })), [422, "code_used_up"]);

  for (let count = 0; count < 2; count++) assert.equal((await stepUp(headers)).status, 202);
  const refused = await stepUp(headers);
  assert.deepEqual([refused.status, refused.body.error.code], [429, "rate_limited"]);
});

test("all tokens of an account together get five codes and 25 tries an hour", async () => {
  const { headers, address, anotherToken } = await longSignedIn();
  const tokens = [headers, anotherToken(), anotherToken(), anotherToken()];
  const asked = await Promise.all(tokens.flatMap((token) => Array.from({ length: 5 }, () => stepUp(token))));
  assert.deepEqual(
    [202, 429].map((status) => asked.filter((answer) => answer.status === status).length),
    [5, 15],
  );
  await account.mailbox.mailTo(address, 5);

  const tries = Array.from({ length: 60 }, (_, at) => tokens[at % 4] ?? headers);
  const answers = await Promise.all(tries.map((token) => stepUp(token, { code: "00000000" })));
  const judged = answers.filter(({ status }) => status === 422);
  assert.equal(judged.length, 25);
  const [refused] = answers.filter(({ status }) => status === 429);
  assert.deepEqual([answers.length - judged.length, refused?.body.error.code], [35, "rate_limited"]);
  assert.ok(Number(refused?.headers.get("retry-after")) > 0);

  clock.advance(minutes(60));
  const later = anotherToken();
  assert.equal((await stepUp(later)).status, 202);
  assert.equal((await stepUp(later, { code: codeIn(await account.mailbox.mailTo(address, 6)) })).status, 200);
});

test("without a verified address there is nowhere to send a code", async () => {
  const { status, body } = await stepUp(account.person({ jti: crypto.randomUUID() }));
  assert.deepEqual([status, body.error.code], [409, "conflict"]);
});

test("a token without a jti is raised by its digest, and no other token of that login with it", async () => {
  const elsewhere = await startElsewhere(account, { clock });
  const { headers, address, anotherToken } = await longSignedIn({ jti: undefined });
  const other = anotherToken();
  assert.equal(await makeKey(headers), 403);
  assert.equal((await stepUp(headers)).status, 202);
  const code = codeIn(await account.mailbox.mailTo(address));
  assert.deepEqual(detailOf(await stepUp(other, { code })), [422, "wrong_code"], "the code is the asking token's");
  assert.equal((await stepUp(headers, { code })).status, 200);
  await eventually(async () => (await makeKey(headers)) === 201, { timeoutMs: 2000 });
  requireStepUp(await elsewhere.principalOf(headers), clock);
  assert.equal(await makeKey(other), 403);
  await elsewhere.close();
});

test("keys and clients cannot be raised", async () => {
  const headers = account.person({ email: freshAddress(), email_verified: true });
  const body = { name: "key", scopes: ["account:read"] };
  const { key } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  const client = account.person({ sub: "machine", client_id: "machine", scope: "account:write" });
  for (const each of [{ "x-api-key": key }, client]) {
    assert.deepEqual(detailOf(await stepUp(each)), [403, "not_a_person"]);
    assert.deepEqual(detailOf(await stepUp(each, { code: "12345678" })), [403, "not_a_person"]);
  }
});

test("what was proven at an address ends with it, when its earlier holder objects", async () => {
  const { headers, address: owner, anotherToken } = await longSignedIn();
  await stepUp(headers);
  await stepUp(headers, { code: codeIn(await account.mailbox.mailTo(owner)) });
  await eventually(async () => (await makeKey(headers)) === 201, { timeoutMs: 2000 });
  const thief = freshAddress();
  await contacts.adopt(headers, thief);

  clock.advance(minutes(14));
  await stepUp(headers);
  await stepUp(headers, { code: codeIn(await account.mailbox.mailTo(thief, 2)) });
  const waiting = anotherToken();
  await stepUp(waiting);
  const code = codeIn(await account.mailbox.mailTo(thief, 3));

  const told = account.mailbox.mails.find(({ to, subject }) => to === owner && /has changed/.test(subject));
  assert.ok(told);
  assert.equal((await contacts.follow(linkIn(told))).status, 200);
  await eventually(async () => (await makeKey(headers)) === 403, { timeoutMs: 2000 });
  assert.deepEqual(detailOf(await stepUp(waiting, { code })), [422, "code_used_up"]);
});
