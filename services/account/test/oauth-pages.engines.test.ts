import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, pressByKeyboard } from "@signalbox/testing";
import * as openid from "openid-client";
import { appearanceProblems } from "./appearance.ts";
import { serve, startBehindEdge } from "./behind-edge.ts";
import { codeTo, nativeApplication } from "./oauth-visitor.ts";

/** The sign-in request of an application on this machine. */
async function requestOf(edge: string, redirect: string) {
  const configuration = await openid.discovery(
    new URL(`${edge}/oauth`),
    nativeApplication.client_id,
    undefined,
    openid.None(),
    { execute: [openid.allowInsecureRequests] },
  );
  const verifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirect,
    scope: "openid",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  return { configuration, url: url.href, verifier };
}

test("on a phone and by keyboard alone, without a script, a person signs in and out, and every page is accessible", async (t) => {
  const { edge, account } = await startBehindEdge(t);
  const application = await serve(t, (_request, response) => response.end("back in the application"));
  const { configuration, url, verifier } = await requestOf(edge, `${application}/back`);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await (await browser.newContext({ viewport: { width: 320, height: 640 } })).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const isFine = async (heading: string) => {
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    assert.deepEqual(await appearanceProblems(page), []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, "nothing is cut off");
    assert.equal(await page.evaluate("getComputedStyle(document.body).maxWidth"), "416px", "the style is let in");
  };

  await page.goto(url);
  await isFine("Sign in");
  await page.locator("input:focus").waitFor(); // autofocus comes after the load; text typed earlier would be lost
  await page.keyboard.type("nobody@nowhere");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await isFine("Sign in");
  // Longer than a line of a phone.
  const address = `${crypto.randomUUID()}${"x".repeat(28)}@${"a".repeat(63)}.example.org`;
  await page.getByLabel("E-mail address").fill("");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type(address);
  await page.keyboard.press("Enter");
  await isFine("Enter your code");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("00000000");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await isFine("Enter your code");
  assert.match(await page.title(), /^Error: /);
  assert.match((await page.getByRole("alert").textContent()) ?? "", /not the code/);
  await page.locator("input:focus").waitFor();
  await page.keyboard.type(await codeTo(account, address));
  await page.keyboard.press("Enter");
  await page.waitForURL(`${application}/back?**`);
  const tokens = await openid.authorizationCodeGrant(configuration, new URL(page.url()), {
    pkceCodeVerifier: verifier,
  });

  await page.goto(openid.buildEndSessionUrl(configuration, { id_token_hint: tokens.id_token ?? "" }).href);
  await isFine("Sign out?");
  await pressByKeyboard(page, page.getByRole("button", { name: "Sign out", exact: true }));
  await page.getByText("You can close this page").waitFor();
  await isFine("You are signed out");
  await page.goto(openid.buildEndSessionUrl(configuration).href);
  await isFine("You are signed out");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("You can close this page").waitFor();
  await isFine("You are signed out");
  await page.goto(`${edge}/oauth/authorize?client_id=nobody`);
  await isFine("This did not work");
  await page.goto(`${edge}/oauth/sign-in/nothing`);
  await isFine("This sign-in has expired");
  assert.deepEqual(
    complaints.filter((text) => !text.includes("Failed to load resource")),
    [],
    "the browser kept nothing from the pages",
  );
});

test("on a phone a person opens the issuer's page, and connects a device, and every page is accessible", async (t) => {
  const { edge, account } = await startBehindEdge(t);
  const configuration = await openid.discovery(new URL(`${edge}/oauth`), "cli", undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const asked = await openid.initiateDeviceAuthorization(configuration, { scope: "openid account:read images:read" });
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await (await browser.newContext({ viewport: { width: 360, height: 640 } })).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const isFine = async (heading: string) => {
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    assert.deepEqual(await appearanceProblems(page), []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, "nothing is cut off");
  };

  await page.goto(`${edge}/oauth`);
  await isFine("Your sign-in");
  await page.getByRole("link", { name: "Connect a device or a program" }).click();
  await isFine("Connect a device");
  await page.getByLabel("Device code").fill("BBBB-BBBB");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await isFine("Connect a device");
  await page.getByLabel("Device code").fill(asked.user_code);
  await page.keyboard.press("Enter");
  await isFine("Connect this device?");
  await page.getByText(asked.user_code, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  const address = `${crypto.randomUUID()}@example.org`;
  await page.getByLabel("E-mail address").fill(address);
  await page.keyboard.press("Enter");
  await page.getByLabel("Code", { exact: true }).fill(await codeTo(account, address));
  await page.keyboard.press("Enter");
  await isFine("The device is connected");
  const tokens = await openid.pollDeviceAuthorizationGrant(configuration, { ...asked, interval: 0 });
  assert.ok(tokens.access_token);
  await page.goto(`${edge}/oauth`);
  await page.getByText("You are signed in to Signalbox as").waitFor();
  await isFine("Your sign-in");
  await page.getByRole("link", { name: "Your sign-ins" }).click();
  await isFine("Your sign-ins");
  await page.getByText("This is the browser that you are using.").waitFor();
  const [signIn] = (await page.getByRole("heading", { level: 2 }).allTextContents()).slice(0, 1);
  const end = page.getByRole("button", { name: "End this sign-in", description: signIn ?? "", exact: true });
  await end.click();
  await page.getByRole("link", { name: "Sign in" }).waitFor();
  await isFine("Your sign-ins");
  assert.deepEqual(
    complaints.filter((text) => !text.includes("Failed to load resource")),
    [],
  );
});

test("a code is pasted as it stands in the mail, with blanks around and within", async (t) => {
  const { edge, account } = await startBehindEdge(t);
  const application = await serve(t, (_request, response) => response.end("back in the application"));
  const { url } = await requestOf(edge, `${application}/back`);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await page.goto(url);
  const address = `${crypto.randomUUID()}@example.org`;
  await page.locator("input:focus").waitFor();
  await page.keyboard.type(address);
  await page.keyboard.press("Enter");
  const field = page.getByLabel("Code", { exact: true });
  await field.waitFor();
  assert.deepEqual(
    [await field.getAttribute("autocomplete"), await field.getAttribute("inputmode")],
    ["one-time-code", "numeric"],
  );
  const code = await codeTo(account, address);
  const copied = `    ${code.slice(0, 4)} ${code.slice(4)}\n`;
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(copied)})`);
  await page.locator("input:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+V");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${application}/back?**`);
});

const logo = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="32"><rect width="96" height="32"/></svg>',
);
const logos = [`data:image/svg+xml;base64,${logo.toString("base64")}`, "https://cdn.example/logo.svg?v=2"];

test("the pages show the name, logo and colour of the deployment, and stay readable with any colour", async (t) => {
  const { edge, account } = await startBehindEdge(t);
  const { url } = await requestOf(edge, "http://127.0.0.1:9/back");
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.route("https://cdn.example/**", (route) => route.fulfill({ contentType: "image/svg+xml", body: logo }));
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const colors = ["#ffffff", "#000000", "#777777", "#ffe600", "#131316"];
  for (const [at, color] of colors.entries()) {
    const logoUrl = logos[at % logos.length];
    const revision = at + 1;
    const wanted = { "server.name": "Harbour & Sons", "server.color": color, "server.logo-url": logoUrl };
    const changes = Object.entries(wanted).map(([name, value]) => [name, { revision, set: true, value }]);
    const overrides = { revision, changes: Object.fromEntries(changes) };
    assert.deepEqual(account.context.configuration.setOverrides(overrides), []);
    await page.goto(url);
    assert.deepEqual(await appearanceProblems(page), [], color);
    assert.equal(await page.title(), "Sign in – Harbour & Sons");
    const shown = page.getByRole("img", { name: "Harbour & Sons" });
    const size = "(async (image) => (await image.decode(), image.naturalWidth))(document.querySelector('header img'))";
    await shown.waitFor();
    assert.equal(await page.evaluate(size), 96, logoUrl);
    const [red, green, blue] = [1, 3, 5].map((place) => Number.parseInt(color.slice(place, place + 2), 16));
    const background = "getComputedStyle(document.querySelector('button')).backgroundColor";
    assert.equal(await page.evaluate(background), `rgb(${red}, ${green}, ${blue})`);
  }
  assert.deepEqual(complaints, [], "the browser kept nothing from the pages");
});
