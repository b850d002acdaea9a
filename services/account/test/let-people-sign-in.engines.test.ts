import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import * as openid from "openid-client";
import { appearanceProblems } from "./appearance.ts";
import { serve, startBehindEdge } from "./behind-edge.ts";
import type { Harness } from "./harness.ts";
import { codeTo } from "./oauth-visitor.ts";

/** The page of the how-to, with another client and another address. */
async function pageOfHowTo(clientId: string, api: string): Promise<string> {
  const [, html = ""] = /```html\n(.*?)\n```/s.exec(await readFile("docs/how-to/let-people-sign-in.md", "utf8")) ?? [];
  const filled = html.replace("app_3tRq8Lc5WfYkKb0ZnVxPsd", clientId).replace("http://127.0.0.1:8080", api);
  assert.ok(filled.includes(clientId) && filled.includes(api), "the how-to has both to be replaced");
  return filled;
}

const logo = '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="32"><rect width="96" height="32"/></svg>';

/** Creates an application of somebody else, and the request that a browser starts with. */
async function foreignApplication(edge: string, account: Harness, redirect: string) {
  const body = {
    name: "Harbour log",
    type: "browser",
    redirect_uris: [redirect],
    scopes: ["account:read", "images:read"],
    party: "third",
    logo_url: "https://cdn.example/harbour.svg",
  };
  const headers = { "x-api-key": await account.firstKey() };
  const { client_id } = (await account.send("POST", "/api/v1/oauth/applications", { headers, body })).body;
  const options = { execute: [openid.allowInsecureRequests] };
  const configuration = await openid.discovery(new URL(`${edge}/oauth`), client_id, undefined, openid.None(), options);
  const verifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirect,
    scope: "openid account:read images:read",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const finish = (back: string) =>
    openid.authorizationCodeGrant(configuration, new URL(back), { pkceCodeVerifier: verifier });
  return { url, finish };
}

test("the page that asks for consent is accessible on a phone, shows the logo and leads back to the application", async (t) => {
  const own = await serve(t, (_request, response) => response.end("back in the application"));
  const { edge, account } = await startBehindEdge(t);
  const { url, finish } = await foreignApplication(edge, account, `${own}/back`);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await (await browser.newContext({ viewport: { width: 360, height: 640 } })).newPage();
  await page.route("https://cdn.example/**", (route) => route.fulfill({ contentType: "image/svg+xml", body: logo }));
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(url.href);
  const address = `${crypto.randomUUID()}@example.org`;
  await page.getByLabel("E-mail address").fill(address);
  await page.keyboard.press("Enter");
  await page.getByLabel("Code", { exact: true }).fill(await codeTo(account, address));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Allow access?" }).waitFor();
  assert.deepEqual(await appearanceProblems(page), []);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, "nothing is cut off");
  assert.equal(await page.evaluate("document.querySelector('.logo').naturalWidth"), 96);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await page.waitForURL(`${own}/back?**`);
  assert.equal((await finish(page.url())).scope, "openid account:read images:read");
  assert.deepEqual(complaints, []);
});

test("the page of the how-to signs a person in and greets them by what the API says with their token", async (t) => {
  let html = "";
  const own = await serve(t, (_request, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(html);
  });
  const { edge, account } = await startBehindEdge(t, "127.0.0.1", { "http.cors.origins": own });
  const body = { name: "Greeter", type: "browser", redirect_uris: [`${own}/`], scopes: ["account:read"] };
  const headers = { "x-api-key": await account.firstKey() };
  const made = await account.send("POST", "/api/v1/oauth/applications", { headers, body });
  html = await pageOfHowTo(made.body.client_id, edge);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", ({ message }) => complaints.push(message));

  await page.goto(own);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("to continue to Greeter").waitFor();
  const address = `${crypto.randomUUID()}@example.org`;
  await page.getByLabel("E-mail address").fill(address);
  await page.keyboard.press("Enter");
  await page.getByLabel("Code", { exact: true }).fill(await codeTo(account, address));
  await page.keyboard.press("Enter");
  await page.getByText(/^Hello, .+!$/).waitFor();
  assert.equal(page.url(), `${own}/`, "neither code nor state stays in the address");

  await page.goto(`${own}/?code=stolen&state=made-up&iss=${encodeURIComponent(`${edge}/oauth`)}`);
  await page.getByText("belongs to no sign-in of this page").waitFor();
  assert.deepEqual(
    complaints.filter((text) => !text.includes("favicon")),
    [],
  );
});
