import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { textLocales } from "../src/texts/texts.ts";
import type { Harness } from "./harness.ts";
import { bearer, startIssuer } from "./oauth-fixture.ts";
import { applications, codeTo, createVisitor, startSignIn } from "./oauth-visitor.ts";

let account: Harness;
before(async () => {
  account = await startIssuer({ "account.oauth.applications": applications, "defaults.locale": "it" });
});
after(() => account.close());

const languageOf = (text: string) => /<html lang="([^"]+)">/.exec(text)?.[1];

/** The first page of a sign-in for these languages of browser and application. */
async function firstPage(browser: string | null, application?: string) {
  const visitor = createVisitor(account, browser === null ? {} : { "accept-language": browser });
  const more = application === undefined ? {} : { ui_locales: application };
  const { url, finish } = await startSignIn(account, { scope: "openid account:read", more });
  return { visitor, finish, page: await visitor.open(url) };
}

test("a page is in the language that the application asks for, else in the browser's, else in the deployment's", async () => {
  const cases: readonly (readonly [browser: string | null, application: string | undefined, shown: string])[] = [
    ["fr-CA,fr;q=0.9,en;q=0.8", undefined, "fr"],
    ["fr", "sv pl", "pl"],
    ["sv, pt-PT;q=0.5, de;q=0.1", undefined, "pt-BR"],
    ["de;q=0, nl;q=0.1", undefined, "nl"],
    ["sv", "fi", "it"],
    ["*", undefined, "it"],
    [null, undefined, "it"],
  ];
  for (const [browser, application, shown] of cases) {
    const { page } = await firstPage(browser, application);
    assert.equal(languageOf(page.text), shown, `${browser} ${application}`);
  }
  for (const locale of textLocales) assert.equal(languageOf((await firstPage(locale)).page.text), locale);
});

test("from page to page to mail to account a person stays in their language", async () => {
  const address = `${crypto.randomUUID()}@example.org`;
  const { visitor, finish, page } = await firstPage("en", "ja");
  const wrongAddress = await visitor.submit(page, { address: "nobody" }, "address");
  assert.match(wrongAddress.text, /メールアドレスの形式が正しくありません/);
  const second = await visitor.submit(page, { address }, "address");
  assert.equal(languageOf(second.text), "ja");
  assert.equal((await account.mailbox.mailTo(address)).subject, "サインインコード");
  assert.match((await visitor.submit(second, { code: "0" }, "code")).text, /このサインインのコードと一致しません/);
  const last = await visitor.submit(second, { code: await codeTo(account, address) }, "code");
  const { access_token } = await finish(last.url);
  const { body } = await account.send("GET", "/api/account/", { headers: bearer(access_token) });
  assert.equal(body.locale, "ja");
});

test("pages of the issuer and behind links that nobody knows are in the browser's language", async () => {
  const headers = { "accept-language": "es" };
  for (const path of ["/oauth/authorize?client_id=nobody", "/oauth/sign-in/nothing", "/oauth/end-session"]) {
    assert.equal(languageOf((await account.send("GET", path, { headers })).body), "es", path);
  }
  assert.equal(languageOf((await account.send("GET", "/oauth/end-session?ui_locales=nl", { headers })).body), "nl");
  const link = `/api/account/contact-links/sbx_link_${"x".repeat(43)}`;
  for (const method of ["GET", "POST"]) {
    assert.equal(languageOf((await account.send(method, link, { headers })).body), "es");
  }
});

test("the issuer says which languages its pages have", async () => {
  const { body } = await account.send("GET", "/oauth/.well-known/openid-configuration");
  assert.deepEqual(body.ui_locales_supported, textLocales);
});
