import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibilityProblems, openBrowser } from "./open-browser.ts";
import { serveListener } from "./serve-listener.ts";

const pageOf = (form: string) =>
  `<!doctype html><html lang="en"><title>Form</title><main><h1>Form</h1><form>${form}</form></main></html>`;

test("a browser opens pages under their own policy, and tells what is wrong with them for some people", async (t) => {
  const good = '<label for="a">Name</label><input id="a">';
  const listener = await serveListener((request, response) => {
    response.setHeader("content-type", "text/html");
    response.setHeader("content-security-policy", "default-src 'none'");
    response.end(pageOf(request.url === "/good" ? good : "<input>"));
  });
  const browser = await openBrowser();
  t.after(() => Promise.all([browser.close(), listener.close()]));
  const page = await browser.newPage();
  await page.goto(`${listener.url}/good`);
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.goto(`${listener.url}/bad`);
  assert.match((await accessibilityProblems(page)).join(), /^label: /);
});
