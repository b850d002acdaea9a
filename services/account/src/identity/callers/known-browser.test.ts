import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { pageText } from "../../pages/page.ts";
import { textLocales, textsFor } from "../../texts/texts.ts";
import { addressPage, codePage, deletedPage, failedPage, refusedPage, tooManyPage } from "../sign-in-pages.ts";
import { KnownBrowsers } from "./callers.ts";

const browsersWith = (...cookieKeys: string[]) =>
  new KnownBrowsers({ cookieKeys, path: "/house/oauth", isSecure: true });

function requestWith(cookie: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers.cookie = `other=1; ${cookie}; last=2`;
  return request;
}

/** Returns the cookie of a browser that has signed in to these accounts, one after the other. */
function cookieAfter(browsers: ReturnType<typeof browsersWith>, accountIds: readonly string[], before = ""): string {
  return accountIds.reduce((cookie, accountId) => {
    const request = requestWith(cookie);
    const response = new ServerResponse(request);
    browsers.remember(request, response, accountId);
    return String(response.getHeader("set-cookie")).split(";")[0] ?? "";
  }, before);
}

test("a browser is known to the last five accounts that signed in with it", () => {
  const browsers = browsersWith("key");
  const accounts = ["a", "b", "c", "d", "e", "f"];
  const known = browsers.of(requestWith(cookieAfter(browsers, [...accounts, "c"])));
  assert.deepEqual(
    [...accounts, "g"].filter((id) => known?.knows(id)),
    ["b", "c", "d", "e", "f"],
  );
});

test("a cookie that is forged, changed, another browser's or under a removed key is ignored", () => {
  const browsers = browsersWith("key");
  const [mine, other] = [cookieAfter(browsers, ["a"]), cookieAfter(browsers, ["b"])];
  const [id = "", ofBrowser = ""] = mine.split(".");
  for (const cookie of ["", "signalbox_known_browser=", `${id}.x`, `${id}x.${ofBrowser}`, id]) {
    assert.equal(browsers.of(requestWith(cookie)), null, cookie);
  }
  const stolen = `${mine}.${other.split(".")[2]}`;
  assert.equal(browsers.of(requestWith(stolen))?.knows("b"), false);
  assert.equal(browsersWith("next").of(requestWith(mine)), null);
});

test("a cookie outlives the rotation of its key", () => {
  const cookie = cookieAfter(browsersWith("old"), ["a"]);
  const both = browsersWith("new", "old");
  const before = both.of(requestWith(cookie));
  assert.equal(before?.knows("a"), true);
  const after = both.of(requestWith(cookieAfter(both, ["b"], cookie)));
  assert.deepEqual([after?.id, after?.knows("a"), after?.knows("b")], [before?.id, true, true]);
});

test("the cookie reaches the issuer alone, never scripts", () => {
  const request = requestWith("");
  const response = new ServerResponse(request);
  browsersWith("key").remember(request, response, "acc_1");
  const line = String(response.getHeader("set-cookie"));
  assert.match(line, /; Path=\/house\/oauth; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/);
  assert.ok(!line.includes("acc_1"));
});

const form = {
  action: "/oauth/sign-in/1",
  guard: "guard",
  application: "<Notes>",
  formTargets: [],
  providers: [],
  asksName: null,
  passkey: null,
};
const sent = { typed: "ada@example.org", lifeMs: 600_000, isPrinted: false };

for (const locale of textLocales) {
  test(`${locale}: every page of a sign-in names its language and has all its values, escaped`, () => {
    const texts = textsFor([locale]);
    const pages = [
      addressPage(texts, form, { address: "" }, null),
      addressPage(
        texts,
        { ...form, asksName: "required" },
        { address: "a", name: "<Ada>" },
        texts.pages.signIn.notAnAddress,
      ),
      codePage(texts, form, sent, null),
      codePage(texts, form, { ...sent, isPrinted: true }, null),
      codePage(texts, form, sent, texts.pages.code.wrong),
      deletedPage(texts, { at: new Date("2026-01-03T08:15:00Z"), reason: "<Notes>" }),
      refusedPage(texts),
      tooManyPage(texts),
      failedPage(texts, 503),
    ];
    for (const page of pages) {
      const text = pageText(page, { name: "Harbour", logoUrl: null, color: "#0b57d0" });
      assert.ok(text.includes(`<html lang="${locale}">`));
      const shown = text.replace(/<style>.*?<\/style>/s, "");
      assert.doesNotMatch(shown, /[{}]|<Notes>|undefined/);
      assert.match(shown, /<title>.+ – Harbour<\/title>/);
    }
  });
}
