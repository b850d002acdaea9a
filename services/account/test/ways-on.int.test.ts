import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as openid from "openid-client";
import type { Harness } from "./harness.ts";
import { baseUrl, discover, issuer, startIssuer } from "./oauth-fixture.ts";
import {
  application,
  applications,
  codeTo,
  createVisitor,
  passThrough,
  startSignIn,
  type Visitor,
} from "./oauth-visitor.ts";

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
  const links = ["Open the console", "Read the documentation", "Your sign-in"].map((name) => linkIn(text, name));
  assert.deepEqual(links, [`${baseUrl}/console/`, `${baseUrl}/docs`, issuer]);
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
  assert.match(asked.text, /It prints every mail to its terminal/);
  assert.doesNotMatch(asked.text, /spam/);
});

type Walk = (visitor: Visitor) => Promise<Visited>;
type Visited = Awaited<ReturnType<Visitor["open"]>>;
const at =
  (path: string): Walk =>
  (visitor) =>
    visitor.open(`${issuer}${path}`);
/** Types the code of a new device. */
const device =
  (...[choice]: Record<string, string>[]): Walk =>
  async (visitor) => {
    const configuration = await discover(account, "cli", openid.None());
    const { user_code } = await openid.initiateDeviceAuthorization(configuration, { scope: "openid" });
    const question = await visitor.submit(await visitor.open(`${issuer}/device`), { user_code });
    return choice === undefined ? question : visitor.submit(question, choice);
  };
const addressPage: Walk = async (visitor) => visitor.open((await startSignIn(account)).url);

/** Each page at which something ends or is refused, by a part of its text. The visitor looks for a way on in each. */
const ends: readonly (readonly [text: RegExp, walk: Walk, isSignedIn?: true])[] = [
  [/Nobody is signed in/, at("")],
  [/You are signed in to/, at(""), true],
  [/These browsers are signed in/, at("/sign-ins")],
  [/This is the browser that you are using/, at("/sign-ins"), true],
  [/With a passkey you sign in by/, at("/passkeys")],
  [/This browser cannot use passkeys here/, at("/passkeys"), true],
  [/Device code/, at("/device")],
  [
    /No device is waiting for this code/,
    async (visitor) => visitor.submit(await at("/device")(visitor), { user_code: "X" }),
  ],
  [/Connect this device\?/, device(), true],
  [/The device is connected/, device({}), true],
  [/Nothing was connected/, device({ abort: "yes" }), true],
  [/The device could not be connected/, (visitor) => visitor.post(`${issuer}/device`, { user_code: "X", xsrf: "X" })],
  [/Sign out\?/, at("/end-session"), true],
  [/You are signed out/, async (visitor) => visitor.submit(await at("/end-session")(visitor), { logout: "yes" }), true],
  [/This did not work/, at("/authorize?client_id=unknown")],
  [/This sign-in has expired/, at("/sign-in/unknown")],
  [/This sign-in has expired/, at("/callback/unknown")],
  [/This did not work/, async (visitor) => visitor.post((await addressPage(visitor)).url, { step: "address" })],
  [/Use a recovery code/, async (visitor) => visitor.submit(await addressPage(visitor), {}, "recovery")],
  [/This link does not exist/, at("/invitations/unknown")],
  [/This link does not exist/, at("/contact-links/unknown")],
  [/This link no longer works/, at("/first-link/unknown")],
  [/This link does not exist/, (visitor) => visitor.open(`${baseUrl}/api/account/contact-links/unknown`)],
];

for (const [index, [text, walk, isSignedIn]] of ends.entries()) {
  test(`the page ${index + 1}, “${text.source}”, leads on without a script`, async () => {
    const visitor = createVisitor(account);
    if (isSignedIn) await passThrough(visitor, account, (await startSignIn(account)).url, known());
    assert.match((await walk(visitor)).text, text);
  });
}

test("a form that another page sends is refused by a page that leads back to the sign-in", async () => {
  const visitor = createVisitor(account);
  const { url } = await addressPage(visitor);
  const refused = await visitor.post(url, { step: "address" });
  assert.match(
    (await visitor.open(`${baseUrl.replace("/house", "")}${linkIn(refused.text, "Try again")}`)).text,
    /E-mail address/,
  );
});
