import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { createMovableClock, minutes } from "@signalbox/core";
import type { Harness } from "./harness.ts";
import { bearer, issuer, startIssuer, through } from "./oauth-fixture.ts";
import { applications, createVisitor, passThrough, startSignIn } from "./oauth-visitor.ts";

const clock = createMovableClock();
let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications }, { clock });
});
after(() => account.close());

const page = `${issuer}/sign-ins`;
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.6 Safari/605.1.15";
const freshAddress = () => `${crypto.randomUUID()}@example.org`;

/** Signs in to an application with a new browser. */
async function signInWith(userAgent: string, address: string, languages = "en") {
  const visitor = createVisitor(account, { "user-agent": userAgent, "accept-language": languages });
  const { url, finish } = await startSignIn(account, { scope: "openid offline_access account:read account:security" });
  const tokens = await finish(await passThrough(visitor, account, url, address));
  return { visitor, headers: bearer(tokens.access_token) };
}

type Person = Awaited<ReturnType<typeof signInWith>>;

/** One person with three browsers. */
async function threeBrowsers() {
  const address = freshAddress();
  const [first, second] = [await signInWith(firefox, address), await signInWith(safari, address)];
  return { first, second, third: await signInWith("an unknown one", address) };
}

const isLetIn = async ({ headers }: Person) => (await account.send("GET", "/api/account/", { headers })).status === 200;
const isSignedIn = async ({ visitor }: Person) => /You are signed in to/.test((await visitor.open(issuer)).text);
const namesIn = (text: string) => [...text.matchAll(/<h2 id="sgn_[^>]*>([^<]+)</g)].map(([, name]) => name);
/** The id of the sign-in with this heading. */
const idOf = (text: string, name: string) => new RegExp(`<h2 id="(sgn_\\w+)">${name}<`).exec(text)?.[1] ?? "";

/** Moves the service's clock on until the test ends; the provider has the machine's clock. */
function moveOn(t: TestContext, milliseconds: number): void {
  clock.advance(milliseconds);
  t.after(() => clock.advance(-milliseconds));
}

test("a person sees their browsers by name and network, which one this is, and ends another one", async () => {
  const { first, second, third } = await threeBrowsers();
  const home = await first.visitor.open(issuer);
  assert.match(home.text, /href="\/house\/oauth\/sign-ins">Your sign-ins</);
  const shown = await first.visitor.open(page);
  assert.equal(shown.status, 200);
  assert.deepEqual(namesIn(shown.text).sort(), ["Firefox, Linux", "Safari, macOS", "Unknown browser"]);
  assert.equal(shown.text.match(/From the network 127\.0\.0\.0\/24\./g)?.length, 3);
  assert.doesNotMatch(shown.text, /127\.0\.0\.1/, "the place is a network");
  const [, current = ""] = /<h2 id="(\w+)">[^<]+<\/h2>\n<p><strong>This is the browser/.exec(shown.text) ?? [];
  assert.equal(current, idOf(shown.text, "Firefox, Linux"));

  const left = await first.visitor.submit(shown, { id: idOf(shown.text, "Safari, macOS") }, "end");
  assert.deepEqual([left.url.href, left.status], [page, 200]);
  assert.deepEqual(namesIn(left.text).sort(), ["Firefox, Linux", "Unknown browser"]);
  assert.deepEqual([await isLetIn(second), await isSignedIn(second)], [false, false]);
  assert.deepEqual([await isLetIn(third), await isSignedIn(third)], [true, true]);
  const { body } = await account.send("GET", "/api/account/audit/?action=sign_in.end", { headers: first.headers });
  const [entry] = body.items;
  assert.deepEqual([entry.subject, entry.actor.credential], [idOf(shown.text, "Safari, macOS"), "sign-ins page"]);

  const again = await first.visitor.submit(left, { id: idOf(shown.text, "Safari, macOS") }, "end");
  assert.deepEqual([again.status, /has already ended/.test(again.text)], [422, true]);
});

test("all others end at once, their applications and open requests too, and this browser goes on", async () => {
  const { first, second, third } = await threeBrowsers();
  const stranger = await signInWith(firefox, freshAddress());
  const left = await first.visitor.submit(await first.visitor.open(page), {}, "others");
  assert.deepEqual(namesIn(left.text), ["Firefox, Linux"]);
  assert.doesNotMatch(left.text, /End all others/, "there are none");
  for (const other of [second, third]) {
    assert.deepEqual([await isLetIn(other), await isSignedIn(other)], [false, false]);
  }
  assert.deepEqual([await isLetIn(first), await isSignedIn(first)], [true, true]);
  const { url } = await startSignIn(account);
  assert.ok((await first.visitor.open(url)).url.searchParams.has("code"), "its applications go on without a code");
  assert.deepEqual([await isLetIn(stranger), await isSignedIn(stranger)], [true, true]);
  const path = "/api/account/audit/?action=account.end_other_sign_ins";
  assert.equal((await account.send("GET", path, { headers: first.headers })).body.items.length, 1);
});

test("this browser's own sign-in ends too, and all of them do", async () => {
  const { first, second, third } = await threeBrowsers();
  const shown = await first.visitor.open(page);
  const signedOut = await first.visitor.submit(shown, { id: idOf(shown.text, "Firefox, Linux") }, "end");
  assert.match(signedOut.text, /href="[^"]+\/authorize/, "the page asks to sign in");
  assert.deepEqual([await isLetIn(first), await isLetIn(second)], [false, true]);
  await second.visitor.submit(await second.visitor.open(page), {}, "all");
  for (const one of [second, third]) assert.deepEqual([await isLetIn(one), await isSignedIn(one)], [false, false]);
});

test("a sign-in of long ago ends all, and single ones only after another sign-in", async (t) => {
  const { first, second } = await threeBrowsers();
  const form = await first.visitor.open(page);
  moveOn(t, minutes(16));
  const late = await first.visitor.open(page);
  assert.match(late.text, /To end individual sign-ins, sign in again/);
  assert.doesNotMatch(late.text, /value="(end|others)"/);
  for (const step of ["end", "others"]) {
    const refused = await first.visitor.submit(form, { id: idOf(form.text, "Safari, macOS") }, step);
    assert.deepEqual([refused.status, /role="alert">To end individual/.test(refused.text)], [403, true], step);
  }
  assert.ok(await isSignedIn(second));
  await first.visitor.submit(late, {}, "all");
  assert.ok(!(await isSignedIn(second)));
});

test("nothing ends by a GET, another site's form, another browser's form, or for another account", async () => {
  const { first, second } = await threeBrowsers();
  const shown = await first.visitor.open(page);
  const others = idOf(shown.text, "Safari, macOS");
  await first.visitor.open(`${page}?step=all&id=${others}`);
  const guard = /name="guard" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  const cookie = [...first.visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    through(account)(page, { method: "POST", body: new URLSearchParams(fields), headers: { cookie, ...headers } });
  assert.equal((await post({ step: "all" })).status, 400);
  assert.equal((await post({ step: "all", guard }, { "sec-fetch-site": "cross-site" })).status, 400);
  assert.equal((await post({ step: "all", guard: guard.replace(/./, "!") })).status, 400);
  assert.equal((await post({ step: "nothing", guard })).status, 400);
  const stranger = await signInWith(firefox, freshAddress());
  const theirs = await stranger.visitor.open(page);
  const foreign = /name="guard" value="([^"]+)"/.exec(theirs.text)?.[1] ?? "";
  assert.equal((await post({ step: "all", guard: foreign })).status, 400);
  const notTheirs = await stranger.visitor.submit(theirs, { id: others }, "end");
  assert.equal(notTheirs.status, 422);
  assert.ok(await isSignedIn(second));
  assert.equal((await post({ step: "all", guard })).status, 303, "the control: the page's own form");
  assert.ok(!(await isSignedIn(second)));
});

test("the state of an account that permits no change permits none here, and says it", async () => {
  const { first, second } = await threeBrowsers();
  const { id } = (await account.send("GET", "/api/account/", { headers: first.headers })).body;
  const shown = await first.visitor.open(page);
  const status = await account.send("POST", `/api/accounts/${id}/status`, {
    headers: { "x-api-key": await account.firstKey() },
    body: { status: "suspended", reason: "test" },
  });
  assert.equal(status.status, 200);
  const refused = await first.visitor.submit(shown, {}, "others");
  assert.deepEqual([refused.status, /not possible right now/.test(refused.text)], [403, true]);
  assert.ok(await isSignedIn(second));
});

test("a browser without a session is asked to sign in, returns to the page, and reads it in its language", async () => {
  const visitor = createVisitor(account, { "accept-language": "de", "user-agent": firefox });
  const stranger = await visitor.open(page);
  assert.match(stranger.text, /<h1>Ihre Anmeldungen<\/h1>/);
  const [, signIn = ""] = /href="([^"]+\/authorize[^"]+)"/.exec(stranger.text) ?? [];
  const back = await passThrough(visitor, account, new URL(signIn.replaceAll("&amp;", "&")), freshAddress());
  assert.equal(back.href, page, "the code does not stay in the address");
  const shown = await visitor.open(page);
  assert.deepEqual(namesIn(shown.text), ["Firefox, Linux"]);
  assert.match(shown.text, /Diesen Browser benutzen Sie gerade/);
});
