import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Harness } from "./harness.ts";
import { issuer, startIssuer, through } from "./oauth-fixture.ts";
import { application, applications, codeTo, createVisitor, passThrough, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications });
});
after(() => account.close());

const freshAddress = () => `${crypto.randomUUID()}@example.org`;

/** Signs in up to the last redirect, which another tab of the browser delays. */
async function almostSignedIn(visitor: ReturnType<typeof createVisitor>, url: URL) {
  const address = freshAddress();
  const page = await visitor.submit(await visitor.open(url), { address }, "address");
  const [, guard = ""] = /name="guard" value="([^"]+)"/.exec(page.text) ?? [];
  const cookie = [...visitor.cookies].map((pair) => pair.join("=")).join("; ");
  const body = new URLSearchParams({ guard, step: "code", code: await codeTo(account, address) });
  const answer = await through(account)(page.url.href, { method: "POST", headers: { cookie }, body });
  const resume = [...visitor.cookies].filter(([name]) => name.startsWith("signalbox_sign_in_resume"));
  return { resume, location: new URL(answer.headers.get("location") ?? "", issuer) };
}

/** Two tabs that cross at the last step: the browser is signed in as one person, while another has proved who they are. */
async function crossing() {
  const visitor = createVisitor(account);
  const { url } = await startSignIn(account);
  const { resume, location } = await almostSignedIn(visitor, url);
  visitor.cookies.clear();
  await passThrough(visitor, account, (await startSignIn(account)).url, freshAddress());
  for (const [name, value] of resume) visitor.cookies.set(name, value);
  return { visitor, page: await visitor.open(location) };
}

test("where two tabs cross at the last step, a page of ours says who is signed in", async () => {
  const { page } = await crossing();
  assert.equal(page.status, 200);
  assert.match(page.text, /<h1>Somebody else is signed in<\/h1>/);
  assert.match(page.text, /signed in as “Account \w+”/);
});

test("the person of the later tab goes on to their application", async () => {
  const { visitor, page } = await crossing();
  const back = await visitor.submit(page, {});
  assert.equal(back.url.href.split("?", 1)[0], application.redirect_uris[0]);
  assert.ok(back.url.searchParams.get("code"));
});

test("the person of the earlier tab stays signed in", async () => {
  const { visitor, page } = await crossing();
  const [, path = ""] = /<p><a href="([^"]+)">Stay signed in as/.exec(page.text) ?? [];
  const home = await visitor.open(new URL(path, issuer));
  assert.match(home.text, /You are signed in to/);
});

test("no spelling of a path leads to a page of the provider", async () => {
  for (const path of [
    "/end-session",
    "/END-SESSION",
    "/end-session/",
    "/device?user_code=BBBB-BBBB",
    "/DEVICE/?user_code=B",
  ]) {
    const page = await createVisitor(account).open(`${issuer}${path}`);
    assert.match(page.text, /^<!doctype html>\n<html lang="en">/, path);
    assert.doesNotMatch(page.text, /<script|noscript/, path);
    assert.ok(page.headers.get("content-security-policy"), path);
  }
});
