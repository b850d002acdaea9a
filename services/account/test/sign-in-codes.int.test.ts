import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, signedIn, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({
    "account.oauth.applications": applications,
    "account.oauth.sign-in-requests": 1_000_000,
    // `X-Forwarded-For` sets the client address.
    "http.trusted-proxies": "127.0.0.1",
  });
});
after(() => account.close());

const from = (address: string) => ({ "x-forwarded-for": address });
const own = () => `${crypto.randomUUID()}@example.org`;
const mailsTo = (address: string): number => account.mailbox.mails.filter(({ to }) => to === address).length;
const isSent = ({ status }: { readonly status: number }): boolean => status === 200;

/** Opens the first page of a new sign-in in a browser. */
async function begin(visitor = createVisitor(account)) {
  const first = await visitor.open((await startSignIn(account)).url);
  return { visitor, first };
}

/** Requests codes as an attacker would: from many addresses, each in its own sign-ins. */
async function attack(address: string, requests: number, clients: number): Promise<number> {
  const eachSends = requests / clients;
  const sent = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const { visitor, first } = await begin();
      let count = 0;
      for (let request = 0; request < eachSends; request++) {
        const page = await visitor.submit(first, { address }, "address", from(`198.51.100.${client}`));
        if (isSent(page)) count++;
      }
      return count;
    }),
  );
  return sent.reduce((sum, count) => sum + count, 0);
}

test("a code is of use in the sign-in that asked for it: others neither end it, nor try it, nor have its use", async () => {
  const address = own();
  const [owner, stranger] = [await begin(), await begin()];
  const page = await owner.visitor.submit(owner.first, { address }, "address", from("192.0.2.1"));
  const code = await codeTo(account, address);
  const other = await stranger.visitor.submit(stranger.first, { address }, "address", from("192.0.2.2"));
  const theirs = await codeTo(account, address, 2);
  for (let count = 0; count < 5; count++) {
    assert.equal(
      (await stranger.visitor.submit(other, { code }, "code")).status,
      422,
      "the owner's code is not theirs",
    );
  }
  assert.equal((await stranger.visitor.submit(other, { code: theirs }, "code")).status, 422, "and theirs is used up");
  const last = await owner.visitor.submit(page, { code }, "code");
  assert.equal(last.url.origin, "https://console.example");
});

test("after a thousand hostile requests a browser that has signed in before has its code within five seconds", async () => {
  const { address, visitor: known } = await signedIn(account, { address: own() });
  known.cookies.delete("signalbox_session");
  const before = mailsTo(address);
  const sent = await attack(address, 1_000, 25);
  assert.ok(sent <= 15, `${sent} were sent to strangers`);

  const { first } = await begin(known);
  const mails = before + sent;
  const page = await known.submit(first, { address }, "address", from("198.51.100.1"));
  assert.ok(isSent(page));
  await eventually(() => mailsTo(address) > mails, { timeoutMs: 5_000 });
  const last = await known.submit(page, { code: await codeTo(account, address, mails + 1) }, "code");
  assert.equal(last.url.origin, "https://console.example");
  assert.ok(mailsTo(address) - before <= 20, "in an hour");

  const refused = await begin();
  const stranger = await refused.visitor.submit(refused.first, { address }, "address", from("203.0.113.5"));
  assert.match(stranger.text, /role="alert">No code was sent/);
  assert.equal(mailsTo(address), mails + 1, "and none was");
});

test("from one client address sixty mails an hour leave for strangers, and one more for a browser that is known", async () => {
  const client = from("203.0.113.77");
  const { address, visitor: known } = await signedIn(account, { address: own() });
  known.cookies.delete("signalbox_session");
  const { visitor, first } = await begin();
  let sent = 0;
  for (let count = 0; count < 70; count++) {
    if (isSent(await visitor.submit(first, { address: own() }, "address", client))) sent++;
  }
  assert.equal(sent, 60);
  const again = await begin(known);
  assert.ok(isSent(await known.submit(again.first, { address }, "address", client)));
});

test("a browser is known to the account that was signed in to with it, and to no other", async () => {
  const [victim, attacker] = [await signedIn(account), await signedIn(account)];
  await attack(victim.address, 100, 25);
  attacker.visitor.cookies.delete("signalbox_session");
  const { visitor, first } = await begin(attacker.visitor);
  const page = await visitor.submit(first, { address: victim.address }, "address", from("203.0.113.6"));
  assert.match(page.text, /No code was sent/);
});

test("a stranger who asks again and again leaves a code for the owner's new browser on the same network", async () => {
  const address = own();
  const network = from("203.0.113.20");
  const stranger = await begin();
  const asked = [];
  for (let count = 0; count < 20; count++) {
    asked.push(isSent(await stranger.visitor.submit(stranger.first, { address }, "address", network)));
  }
  assert.equal(asked.filter(Boolean).length, 5);
  const owner = await begin();
  const page = await owner.visitor.submit(owner.first, { address }, "address", network);
  assert.ok(isSent(page));
  const last = await owner.visitor.submit(page, { code: await codeTo(account, address, 6) }, "code");
  assert.equal(last.url.origin, "https://console.example");

  const victim = own();
  const sent = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { visitor, first } = await begin();
      return isSent(await visitor.submit(first, { address: victim }, "address", network));
    }),
  );
  assert.equal(sent.filter(Boolean).length, 10, "one network cannot use up what is left for others");
  const elsewhere = await begin();
  const there = await elsewhere.visitor.submit(elsewhere.first, { address: victim }, "address", from("192.0.2.44"));
  assert.ok(isSent(there));
});
