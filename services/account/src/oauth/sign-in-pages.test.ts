import assert from "node:assert/strict";
import { test } from "node:test";
import { pageText } from "../pages/page.ts";
import { textLocales, textsFor } from "../texts/texts.ts";
import { addressPage, codePage, deletedPage, failedPage, lostPage, refusedPage, tooManyPage } from "./sign-in-pages.ts";

const form = { action: "/oauth/sign-in/1", guard: "guard", application: "<Notes>", formTargets: [] };
const sent = { typed: "ada@example.org", lifeMs: 600_000 };

for (const locale of textLocales) {
  test(`${locale}: every page of a sign-in names its language and has all its values, escaped`, () => {
    const texts = textsFor([locale]);
    const pages = [
      addressPage(texts, form, "", null),
      addressPage(texts, form, "a", texts.pages.signIn.notAnAddress),
      codePage(texts, form, sent, null),
      codePage(texts, form, sent, texts.pages.code.wrong),
      deletedPage(texts, { at: new Date("2026-01-03T08:15:00Z"), reason: "<Notes>" }),
      lostPage(texts),
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
