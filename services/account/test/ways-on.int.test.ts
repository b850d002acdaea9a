import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { baseUrl, issuer, startIssuer } from "./oauth-fixture.ts";
import { application, applications, codeTo, createVisitor, passThrough, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications, "account.registration": "domains" });
  const domains = { "account.registration.domains": { revision: 1, set: true, value: ["known.example"] } };
  assert.deepEqual(account.context.configuration.setOverrides({ revision: 1, changes: domains }), []);
});
after(() => account.close());

const known = () => `${crypto.randomUUID()}@known.example`;
const linkIn = (text: string, name: string) =>
  new RegExp(`<a class="button[^"]*" href="([^"]+)">${name}</a>`).exec(text)?.[1]?.replaceAll("&amp;", "&");

/** A sign-in up to its refusal: the address may have no account. */
async function refused() {
  const visitor = createVisitor(account);
  const address = `${crypto.randomUUID()}@example.org`;
  const { url, finish } = await startSignIn(account);
  const asked = await visitor.submit(await visitor.open(url), { address }, "address");
  const page = await visitor.submit(asked, { code: await codeTo(account, address) }, "code");
  assert.match(page.text, /There is no account with this address/);
  return { visitor, page, finish };
}

test("a person whose address has no account goes on with another one", async () => {
  const { visitor, page, finish } = await refused();
  const address = known();
  const first = await visitor.submit(page, {}, "restart");
  const asked = await visitor.submit(first, { address }, "address");
  const back = await visitor.submit(asked, { code: await codeTo(account, address) }, "code");
  assert.ok((await finish(back.url)).access_token);
});

test("the application is told that access was denied to a person without an account", async () => {
  const { visitor, page } = await refused();
  const back = await visitor.submit(page, {}, "cancel");
  assert.equal(back.url.href.split("?", 1)[0], application.redirect_uris[0]);
  assert.equal(back.url.searchParams.get("error"), "access_denied");
});

test("a sign-in that another browser has begun starts again from its page", async () => {
  const { url } = await startSignIn(account);
  const begun = await createVisitor(account).open(url);
  const visitor = createVisitor(account);
  const lost = await visitor.open(begun.url);
  assert.match(lost.text, /This sign-in has expired/);
  const again = new URL(linkIn(lost.text, "Start again") ?? "");
  const back = await passThrough(visitor, account, again, known());
  assert.equal(back.searchParams.get("state"), url.searchParams.get("state"));
});

test("a page that has expired leads a person who is signed in on to the application", async () => {
  const visitor = createVisitor(account);
  await passThrough(visitor, account, (await startSignIn(account)).url, known());
  const { url } = await startSignIn(account, { more: { prompt: "login" } });
  const begun = await createVisitor(account).open(url);
  const lost = await visitor.open(begun.url);
  assert.match(lost.text, /You are signed in as/);
  assert.ok(linkIn(lost.text, "Continue to Console &lt;b&gt;"));
});

test("an expired page whose request nobody keeps leads to the console, the documents and the sign-in", async () => {
  const { text } = await createVisitor(account).open(`${issuer}/sign-in/unknown`);
  const links = ["Open the console", "Read the documents", "Your sign-in"].map((name) => linkIn(text, name));
  assert.deepEqual(links, [`${baseUrl}/console/`, `${baseUrl}/docs`, new URL(issuer).pathname]);
});

test("a last step that comes too late leads on from the same page", async () => {
  const { status, text } = await createVisitor(account).open(`${issuer}/authorize/unknown`);
  assert.equal(status, 400);
  assert.match(text, /This sign-in has expired/);
  assert.ok(linkIn(text, "Open the console"));
});

test("where mails are printed, the page of the code says where to read them", async (t) => {
  const printing = await startIssuer({ "account.oauth.applications": applications, "mail.url": "log:" });
  t.after(() => printing.close());
  t.mock.method(process.stderr, "write", () => true);
  const visitor = createVisitor(printing);
  const page = await visitor.open((await startSignIn(printing)).url);
  const asked = await visitor.submit(page, { address: known() }, "address");
  assert.match(asked.text, /It prints them where it runs/);
  assert.doesNotMatch(asked.text, /spam/);
});
