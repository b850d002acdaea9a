import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessibilityProblems, eventually, pressByKeyboard } from "@signalbox/testing";
import { freePorts } from "../systems/start-nginx.ts";
import { settled, tooWide, watchPage } from "./console-pages.ts";
import { type ConsolePerson, type Page, startConsolePerson } from "./console-person.ts";
import { takePicture } from "./look-at-pages.ts";

/** A deployment with an account, whose product shows the portal to a subscriber. */
let ada: ConsolePerson;
let sample: Sample;
let foreign: Server;
let mine: string;
let beside: string;
let key: Record<string, string>;
const ports = { sample: 0, foreign: 0 };

before(async () => {
  const free = await freePorts(["sample", "foreign"]);
  ports.sample = Number(free.get("sample"));
  ports.foreign = Number(free.get("foreign"));
  ada = await startConsolePerson({ "console.portal.origins": `http://127.0.0.1:${ports.sample}` });
  const scopes = ["webhooks:read", "webhooks:write", "account:security", "events:publish"];
  key = { "x-api-key": await keyWith(scopes) };
  const settings = { retry_schedule_seconds: [0] };
  mine = (await call("POST", "/api/v1/webhooks/endpoints", endpointAt("/mine", settings))).id;
  beside = (await call("POST", "/api/v1/webhooks/endpoints", endpointAt("/beside", settings))).id;
  sample = await startSample();
  foreign = createServer((request, response) => {
    const framed = decodeURIComponent(new URL(request.url ?? "/", "http://x").searchParams.get("url") ?? "");
    response.setHeader("content-type", "text/html");
    response.end(
      `<!doctype html><html lang="en"><title>Foreign</title><iframe title="framed" src="${framed}"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => foreign.listen(ports.foreign, "127.0.0.1", resolve));
});
after(async () => {
  foreign?.close();
  await sample?.close();
  await ada?.close();
});

const endpointAt = (path: string, settings: object) => ({
  url: `${ada.receiver.url}${path}`,
  description: path.slice(1),
  event_types: ["order.paid"],
  settings,
});

/** Makes a key with the token that the console sends. */
async function keyWith(scopes: readonly string[]): Promise<string> {
  const asked = ada.page.waitForRequest("**/api/v1/webhooks/endpoints**");
  await ada.page.goto(`${ada.baseUrl}/console/webhooks/endpoints`);
  const { authorization = "" } = await (await asked).allHeaders();
  return (await call("POST", "/api/account/api-keys", { name: "backend", scopes }, { authorization })).key;
}

// biome-ignore lint/suspicious/noExplicitAny: each test reads the members that it needs.
async function call(method: string, path: string, body?: object, headers = key): Promise<any> {
  const answer = await fetch(ada.baseUrl + path, {
    method,
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

interface Sample {
  readonly url: string;
  close(): Promise<void>;
}

/** Runs the backend of the how-to page as it stands there. */
async function startSample(): Promise<Sample> {
  const page = await readFile(new URL("../../docs/how-to/embed-the-portal.md", import.meta.url), "utf8");
  const [, code = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  const directory = await mkdtemp(join(tmpdir(), "signalbox-portal-"));
  const file = join(directory, "backend.mjs");
  await writeFile(file, code);
  const environment = {
    PATH: process.env.PATH,
    PORT: String(ports.sample),
    ENDPOINT_ID: mine,
    SIGNALBOX_URL: ada.baseUrl,
    SIGNALBOX_API_KEY: key["x-api-key"],
  };
  const child: ChildProcess = spawn(process.execPath, [file], { env: environment, stdio: "inherit" });
  const url = `http://127.0.0.1:${ports.sample}/`;
  await eventually(() =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    url,
    async close() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await gone;
      await rm(directory, { recursive: true });
    },
  };
}

const linkFor = async (body: object): Promise<{ readonly id: string; readonly url: string }> =>
  call("POST", "/api/v1/webhooks/portal-sessions", { endpoint_ids: [mine], ...body });

/** Opens a link in a browser that knows nothing of the deployment. */
async function openLink(
  url: string,
  width = 1280,
): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
  const context = await ada.browser.newContext({ viewport: { width, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(`${ada.baseUrl}/robots.txt`);
  const problems = watchPage(page);
  await page.goto(url);
  return { page, problems };
}

async function publishFailing(body: string): Promise<void> {
  ada.receiver.answer({ status: 422, body });
  const before = (await call("GET", `/api/v1/webhooks/deliveries?endpoint_id=${mine}&status=exhausted`)).items.length;
  await call("POST", "/api/v1/webhooks/events", { type: "order.paid", data: { total: 12 } });
  await eventually(async () => {
    const { items } = await call("GET", `/api/v1/webhooks/deliveries?endpoint_id=${mine}&status=exhausted`);
    return items.length > before;
  });
}

test("framed by the page of the how-to, a subscriber finds the cause of a failure and sends it again by keyboard alone", async () => {
  await publishFailing(`{"error":"unknown currency"}<img src=x onerror="window.hacked=1">`);
  const context = await ada.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(sample.url);
  const portal = page.frameLocator("iframe");
  await pressByKeyboard(page, portal.getByRole("link", { name: "/mine" }));
  await pressByKeyboard(page, portal.getByRole("link", { name: "View deliveries" }));
  await pressByKeyboard(page, portal.getByRole("link", { name: "order.paid" }).first());
  await portal.getByText("HTTP 422").first().waitFor();
  await portal
    .getByRole("region", { name: /response body/ })
    .last()
    .getByText("unknown currency")
    .waitFor();
  ada.receiver.answer({ status: 200 });
  await pressByKeyboard(page, portal.getByRole("button", { name: "Send again" }));
  await portal.getByText("The receiver answered with 2xx.").waitFor();
  const [, frame] = page.frames();
  assert.equal(await frame?.evaluate("window.hacked"), undefined);
  assert.equal(
    await frame?.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--radius')"),
    "10px",
  );
  assert.equal(await frame?.evaluate("location.hash"), "", "the secret is not in the address any more");
  assert.equal(
    await portal.getByRole("link", { name: /^why\b/i }).count(),
    0,
    "nothing leads to where a link cannot go",
  );
  await context.close();
});

test("by mouse, on a narrow screen: only the own endpoint, its cause, a counted replay and a test event", async () => {
  await publishFailing("no such order");
  const { url } = await linkFor({ theme: { scheme: "dark" } });
  const { page, problems } = await openLink(url, 360);
  await page.getByRole("link", { name: "/mine" }).waitFor();
  assert.equal(await page.getByText("/beside").count(), 0);
  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByLabel("Status").selectOption("exhausted");
  await page.getByRole("link", { name: "order.paid" }).first().click();
  await page
    .getByRole("region", { name: /response body/ })
    .last()
    .getByText("no such order")
    .waitFor();

  ada.receiver.answer({ status: 200 });
  await page.getByRole("link", { name: "Replays" }).click();
  await page.getByLabel("Endpoint").selectOption({ index: 1 });
  assert.equal(await page.getByLabel("Endpoint").locator("option").count(), 2, "another endpoint is not offered");
  await page.getByRole("button", { name: "Count first" }).click();
  await page.getByRole("button", { name: /^Send \d+ again$/ }).click();
  await page.getByRole("table", { name: "Replays" }).getByText("done").waitFor();

  await page.getByRole("link", { name: "Endpoints" }).click();
  await page.getByRole("link", { name: "/mine" }).click();
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("HTTP 200").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  for (const absent of ["Delete", "Reveal", "Rotate"])
    assert.equal(await page.getByRole("button", { name: absent }).count(), 0, absent);
  await page.getByRole("button", { name: "Edit" }).click();
  for (const label of ["Receiver URL", "Event types"])
    assert.equal(await page.getByLabel(label).getAttribute("readonly"), "", label);
  for (const hidden of ["Headers of every delivery", "Metadata, not sent to receivers"])
    assert.equal(await page.getByText(hidden).count(), 0, hidden);
  await page.getByLabel("Description").fill("mine, renamed");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("mine, renamed").waitFor();
  const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  assert.doesNotMatch(String(kept), /sbx_/);
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("the replays of the own endpoint are listed with progress, cancellable where the link may write", async () => {
  await publishFailing("no such order");
  ada.receiver.answer({ status: 200 });
  const replayOf = (endpoint: string) => ({
    endpoint_id: endpoint,
    from: new Date(Date.now() - 3_600_000).toISOString(),
  });
  for (const endpoint of [mine, beside]) await call("POST", "/api/v1/webhooks/replays", replayOf(endpoint));
  await eventually(async () => {
    const { items } = await call("GET", "/api/v1/webhooks/replays");
    return items.every(({ status }: { status: string }) => status === "done");
  });
  // At one delivery a second it is still running when the page comes.
  const many = Array.from({ length: 60 }, () => ({ type: "order.paid", data: {} }));
  await call("POST", "/api/v1/webhooks/events", many);
  await eventually(async () => {
    const { items } = await call("GET", `/api/v1/webhooks/deliveries?endpoint_id=${mine}&status=succeeded&limit=100`);
    return items.length >= many.length;
  });
  const slow = await call("POST", "/api/v1/webhooks/replays", { ...replayOf(mine), rate: 1 });
  const reader = await openLink((await linkFor({ access: "read" })).url, 360);
  await reader.page.getByRole("link", { name: "Replays" }).click();
  const row = (page: Page) => page.getByRole("row", { name: slow.id });
  await row(reader.page).getByRole("progressbar").waitFor();
  assert.equal(await reader.page.getByText(beside).count(), 0, "nothing of another endpoint");
  for (const name of ["Cancel", "Count first"])
    assert.equal(await reader.page.getByRole("button", { name }).count(), 0, name);
  assert.deepEqual(await accessibilityProblems(reader.page), []);
  const { page, problems } = await openLink((await linkFor({ access: "write" })).url);
  await page.getByRole("link", { name: "Replays" }).click();
  await row(page).getByRole("button", { name: "Cancel the replay" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the replay" }).click();
  await row(page).getByText("cancelled").waitFor();
  assert.deepEqual([...problems, ...reader.problems], []);
  await Promise.all([page.context().close(), reader.page.context().close()]);
});

test("a new link from the page around saves a frame that is loaded again or whose link ends", async () => {
  const context = await ada.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(sample.url);
  const portal = page.frameLocator("iframe");
  await portal.getByRole("link", { name: /mine/ }).click();
  await portal.getByRole("button", { name: "Edit" }).waitFor();
  await page.frames()[1]?.evaluate("location.reload()");
  await portal.getByRole("button", { name: "Edit" }).click();
  await portal.getByLabel("Description").fill("typed before the end");
  const { items } = await call("GET", "/api/v1/webhooks/portal-sessions");
  for (const { id } of items) await call("DELETE", `/api/v1/webhooks/portal-sessions/${id}`);
  await portal.getByRole("button", { name: "Save" }).click();
  await portal.getByText("typed before the end").waitFor();
  await portal.getByRole("button", { name: "Edit" }).waitFor();
  assert.equal(await portal.getByText("This link is no longer valid").count(), 0);
  await context.close();
});

test("a link from a window that does not frame the portal is not heard", async () => {
  const { url } = await linkFor({});
  const context = await ada.browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${ports.foreign}/?url=about:blank`);
  const opened = context.waitForEvent("page");
  await page.evaluate(`globalThis.other = open(${JSON.stringify(`${ada.baseUrl}/console/portal/`)}, "_blank")`);
  const portal = await opened;
  await portal.getByRole("heading", { name: "Open this page from its link" }).waitFor();
  await portal.evaluate("addEventListener('message', () => { globalThis.heard = (globalThis.heard ?? 0) + 1 })");
  const link = JSON.stringify({ type: "signalbox.link", url });
  await page.evaluate(`other.postMessage(${link}, "*")`);
  await portal.evaluate(`postMessage(${link}, "*")`);
  await eventually(async () => (await portal.evaluate("globalThis.heard")) === 2);
  assert.equal(await portal.getByRole("heading", { name: "Open this page from its link" }).count(), 1);
  await context.close();
});

test("with `manage` the subscriber sees the secret, and another endpoint's address shows nothing of it", async () => {
  const { url } = await linkFor({ access: "manage" });
  const { page } = await openLink(url);
  await page.getByRole("link", { name: /mine/ }).click();
  await page.getByRole("button", { name: "Reveal" }).click();
  await page.getByText(/^whsec_[A-Za-z0-9+/=]+$/).waitFor();
  // The address of a page of the portal, in the same session: the secret is in memory, so the page may not load anew.
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(`/console/portal/webhooks/endpoints/${beside}`)})`);
  await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))");
  await page.getByText("Not found: endpoint").waitFor();
  await page.context().close();
});

test("a link that ends keeps what was typed; ended, missing or unreachable links say what to do", async () => {
  const { id, url } = await linkFor({});
  const { page } = await openLink(url);
  await page.getByRole("link", { name: /mine/ }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Description").fill("typed before the end");
  await call("DELETE", `/api/v1/webhooks/portal-sessions/${id}`);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This link is no longer valid, so nothing is loaded or sent.").waitFor();
  assert.equal(await page.getByLabel("Description").inputValue(), "typed before the end");
  assert.deepEqual(await accessibilityProblems(page), []);

  await page.goto(`${ada.baseUrl}/robots.txt`);
  await page.goto(url);
  await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.goto(`${ada.baseUrl}/robots.txt`);
  await page.goto(`${ada.baseUrl}/console/portal/`);
  await page.getByRole("heading", { name: "Open this page from its link" }).waitFor();
  await page.goto(`${ada.baseUrl}/robots.txt`);
  await page.route("**/api/**", (route) => route.abort());
  await page.goto((await linkFor({})).url);
  await page.getByRole("heading", { name: "No response" }).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.context().close();
});

test("only named origins can frame the portal, nobody the console", async () => {
  const { url } = await linkFor({});
  const context = await ada.browser.newContext();
  const page = await context.newPage();
  const refusals: string[] = [];
  page.on("console", (message) => refusals.push(message.text()));
  const isShown = () => page.frameLocator("iframe").getByRole("heading").count();
  for (const framed of [url, `${ada.baseUrl}/console/`]) {
    refusals.length = 0;
    await page.goto(`http://127.0.0.1:${ports.foreign}/?url=${encodeURIComponent(framed)}`);
    await eventually(() => refusals.some((text) => text.includes("frame-ancestors")));
    assert.equal(await isShown(), 0, framed);
  }
  refusals.length = 0;
  await page.goto(sample.url);
  await page.frameLocator("iframe").getByRole("heading", { name: "Endpoints" }).waitFor();
  await page.evaluate(`document.querySelector("iframe").src = ${JSON.stringify(`${ada.baseUrl}/console/`)}`);
  await eventually(() => refusals.some((text) => text.includes("frame-ancestors")));
  assert.equal(await isShown(), 0, "the console in a page that may frame the portal");
  await context.close();
});

test("every page of the portal is accessible in light and dark, at 360 and 1280 pixels, with a theme of its own", async () => {
  await publishFailing(`{"error":"unknown currency"}`);
  for (const [width, scheme] of [
    [360, "dark"],
    [1280, "light"],
  ] as const) {
    const { url } = await linkFor({ access: "manage", theme: { accent: "#ffd400", radius: 12, scheme } });
    const { page } = await openLink(url, width);
    const judge = async (place: string) => {
      await settled(page);
      assert.deepEqual(await accessibilityProblems(page), [], `${place} at ${width}`);
      assert.deepEqual(await tooWide(page), [], `${place} at ${width}`);
    };
    await page.getByRole("link", { name: /mine/ }).waitFor();
    await judge("endpoints");
    if (scheme === "light") await takePicture(page, "portal");
    await page.getByRole("link", { name: /mine/ }).click();
    await page.getByRole("heading", { name: "Secrets" }).waitFor();
    await judge("endpoint");
    await page.getByRole("link", { name: "Replays" }).click();
    await page.getByRole("button", { name: "Count first" }).waitFor();
    await judge("replays");
    await page.getByRole("link", { name: "Deliveries", exact: true }).click();
    await page.getByRole("link", { name: "order.paid" }).first().waitFor();
    await judge("deliveries");
    await page.getByRole("link", { name: "order.paid" }).first().click();
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
    await judge("delivery");
    await page.context().close();
  }
});
