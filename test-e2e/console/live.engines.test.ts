import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibilityProblems, eventually, pressByKeyboard } from "@signalbox/testing";
import { freePorts } from "../systems/start-nginx.ts";
import { settled, watchPage } from "./console-pages.ts";
import { type ConsolePerson, type Page, startConsolePerson } from "./console-person.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";

/** A person whose browser reaches the deployment by a way that can be cut; the test itself goes directly. */
let ada: ConsolePerson;
let proxy: CuttingProxy;
let base: string;
let key: Record<string, string>;

before(async () => {
  const ports = await freePorts(["http", "way"]);
  const [http, way] = [Number(ports.get("http")), Number(ports.get("way"))];
  base = `http://localhost:${way}`;
  proxy = await startCuttingProxy(way, http);
  ada = await startConsolePerson({
    "http.port": String(http),
    "http.base-url": base,
    "webhook-delivery.attempts.published": "all",
  });
  direct = `http://localhost:${http}`;
  const asked = ada.page.waitForRequest("**/api/v1/webhooks/endpoints**");
  await ada.page.goto(`${base}/console/webhooks/endpoints`);
  const { authorization = "" } = await (await asked).allHeaders();
  const scopes = ["webhooks:read", "webhooks:write", "events:publish"];
  key = { authorization };
  key = { "x-api-key": (await call("/api/account/api-keys", { name: "live", scopes })).key };
  await makeEndpoint("/mine", "live.*");
  await makeEndpoint("/beside", "beside.*");
});
after(async () => {
  await ada?.close();
  await proxy?.close();
});

let direct: string;

// biome-ignore lint/suspicious/noExplicitAny: each test reads the members that it needs.
async function call(path: string, body: object): Promise<any> {
  const headers = { ...key, "content-type": "application/json" };
  const answer = await fetch(direct + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

const makeEndpoint = (path: string, type: string, settings: object = {}) =>
  call("/api/v1/webhooks/endpoints", { url: ada.receiver.url + path, event_types: [type], settings });

/** Publishes an event of each type, and waits until each was attempted. */
async function publish(...types: string[]): Promise<void> {
  const before = ada.receiver.requests.length;
  await call("/api/v1/webhooks/events", types.map((type) => ({ type, data: {} })) as object);
  await eventually(() => ada.receiver.requests.length >= before + types.length);
}

const rowOf = (page: Page, type: string) => page.getByRole("link", { name: type, exact: true });
const stateOf = (page: Page, word: string) => page.getByRole("status", { name: `Updates: ${word}` });

/** Opens the deliveries as they are now, and lets the list be read no more: what comes then was told. */
async function openDeliveries(search = ""): Promise<Page> {
  const page = await ada.context.newPage();
  await page.goto(`${base}/console/webhooks/deliveries${search}`);
  await stateOf(page, "live").waitFor();
  await settled(page);
  await page.route("**/api/v1/webhooks/deliveries?**", (route) => route.fulfill({ status: 304 }));
  return page;
}

test("an attempt is shown as it is made, in every tab whose filters let it through", async () => {
  const [one, other] = [await openDeliveries(), await openDeliveries("?type=live.b")];
  const problems = watchPage(one);
  await publish("live.a", "live.b");
  await rowOf(one, "live.a").waitFor();
  await rowOf(one, "live.b").waitFor();
  await rowOf(other, "live.b").waitFor();
  assert.equal(await rowOf(other, "live.a").count(), 0);
  await one.getByRole("table", { name: "Deliveries" }).getByText("succeeded").first().waitFor();
  assert.deepEqual(await accessibilityProblems(one), []);
  assert.deepEqual(problems, []);
  await Promise.all([one.close(), other.close()]);
});

test("a cut is shown until the page resumes without a gap or a repetition", async () => {
  const page = await openDeliveries();
  await publish("live.before");
  await rowOf(page, "live.before").waitFor();
  proxy.cut();
  await stateOf(page, "reconnecting").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  const missed = Array.from({ length: 12 }, (_, at) => `live.missed_${at}`);
  await publish(...missed);
  proxy.mend();
  for (const type of missed) await rowOf(page, type).waitFor();
  await stateOf(page, "live").waitFor();
  await publish("live.after");
  await rowOf(page, "live.after").waitFor();
  for (const type of ["live.before", ...missed, "live.after"]) assert.equal(await rowOf(page, type).count(), 1, type);
  await page.close();
});

test("by keyboard a person pauses the page, which then catches up with everything that came", async () => {
  const page = await openDeliveries();
  await publish("live.in_time");
  await rowOf(page, "live.in_time").waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Pause updates" }));
  await stateOf(page, "paused").waitFor();
  const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("link");
  const before = await rows.allTextContents();
  await publish("live.while_paused_1", "live.while_paused_2");
  const other = await openDeliveries();
  await rowOf(other, "live.while_paused_2").waitFor();
  assert.deepEqual(await rows.allTextContents(), before);
  assert.deepEqual(await accessibilityProblems(page), []);
  // What comes then is of before, by the clock of the browser.
  await page.clock.setFixedTime(Date.now() + 60_000);
  await pressByKeyboard(page, page.getByRole("button", { name: "Resume" }));
  await stateOf(page, "catching up").waitFor();
  for (const at of [1, 2]) await rowOf(page, `live.while_paused_${at}`).waitFor();
  await stateOf(page, "live").waitFor();
  await Promise.all([page.close(), other.close()]);
});

test("rows stay under the pointer until a press shows the new ones", async () => {
  const page = await openDeliveries();
  await publish("live.pointed");
  await rowOf(page, "live.pointed").hover();
  await publish("live.waits");
  await page.getByRole("button", { name: "Show 1 new" }).waitFor();
  assert.equal(await rowOf(page, "live.waits").count(), 0);
  await pressByKeyboard(page, page.getByRole("button", { name: "Show 1 new" }));
  await rowOf(page, "live.waits").waitFor();
  await page.close();
});

test("a tab that nobody sees keeps no connection, yet misses nothing when it is seen again", async () => {
  const page = await openDeliveries();
  const become = (state: "hidden" | "visible") =>
    page.evaluate(`Object.defineProperty(document, "visibilityState", { configurable: true, value: "${state}" });
      document.dispatchEvent(new Event("visibilitychange"))`);
  const cut = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/graphql"));
  await become("hidden");
  await cut;
  await publish("live.unseen");
  const other = await openDeliveries();
  await rowOf(other, "live.unseen").waitFor();
  assert.equal(await rowOf(page, "live.unseen").count(), 0);
  await become("visible");
  await rowOf(page, "live.unseen").waitFor();
  await Promise.all([page.close(), other.close()]);
});

/** Publishes events without an attempt: no endpoint wants them, or theirs is paused. */
const publishUnwanted = (...types: string[]) =>
  call("/api/v1/webhooks/events", types.map((type) => ({ type, data: {} })) as object);

for (const [name, path] of [
  ["home", ""],
  ["events", "webhooks/events"],
] as const) {
  test(`${name === "home" ? "home" : "the page of events"} shows each event as it is published, can be paused, and goes on without a gap`, async () => {
    const page = await ada.context.newPage();
    await page.goto(`${base}/console/${path}`);
    await stateOf(page, "live").waitFor();
    await settled(page);
    await publishUnwanted(`${name}.told`);
    await page.getByText(`${name}.told`).first().waitFor({ timeout: 8_000 });
    await pressByKeyboard(page, page.getByRole("button", { name: "Pause updates" }));
    await stateOf(page, "paused").waitFor();
    const beside = await ada.context.newPage();
    await beside.goto(`${base}/console/webhooks/events`);
    await stateOf(beside, "live").waitFor();
    await publishUnwanted(`${name}.paused_1`, `${name}.paused_2`);
    for (const at of [1, 2]) await beside.getByText(`${name}.paused_${at}`).first().waitFor({ timeout: 8_000 });
    assert.equal(await page.getByText(`${name}.paused_1`).count(), 0);
    await pressByKeyboard(page, page.getByRole("button", { name: "Resume" }));
    for (const at of [1, 2]) await page.getByText(`${name}.paused_${at}`).first().waitFor({ timeout: 8_000 });
    proxy.cut();
    await stateOf(page, "reconnecting").waitFor();
    await publishUnwanted(`${name}.cut`);
    proxy.mend();
    await page.getByText(`${name}.cut`).first().waitFor();
    await stateOf(page, "live").waitFor();
    assert.deepEqual(await accessibilityProblems(page), []);
    await Promise.all([page.close(), beside.close()]);
  });
}

test("a deployment without subscriptions says that it is read periodically", async () => {
  const page = await ada.context.newPage();
  const error = { code: "forbidden", message: "Not offered.", request_id: "r", doc_url: "/" };
  await page.route("**/graphql", (route) => route.fulfill({ status: 403, json: { error } }));
  await page.goto(`${base}/console/webhooks/events`);
  await stateOf(page, "every 10 seconds").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.close();
});

test("a flood leaves only a page of rows in the document, the newest on top", async () => {
  const page = await openDeliveries();
  for (let count = 0; count < 10; count++) await publish(...Array.from({ length: 100 }, () => "live.flood"));
  await publish("live.last");
  await rowOf(page, "live.last").waitFor();
  await eventually(async () => (await page.getByRole("row").count()) === 26);
  await page.getByRole("row").nth(1).getByText("live.last").waitFor();
  await page.close();
});

test("an endpoint's page follows its held deliveries from the pause to the drain", async () => {
  const { id } = await makeEndpoint("/held", "held.*", { rate: { limit: 1, per_seconds: 2 } });
  const page = await ada.context.newPage();
  await page.goto(`${base}/console/webhooks/endpoints/${id}`);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await publishUnwanted(...Array.from({ length: 30 }, () => "held.later"));
  const held = page
    .getByRole("term")
    .filter({ hasText: /^Held$/ })
    .locator("+ dd");
  await held.filter({ hasText: /^30$/ }).waitFor({ timeout: 8_000 });
  await page.getByRole("button", { name: "Resume" }).click();
  await held.filter({ hasText: /^\d+, going out at 0\.5 a second until \S/ }).waitFor({ timeout: 8_000 });
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.close();
});
