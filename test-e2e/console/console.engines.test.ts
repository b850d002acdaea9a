import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { accessibilityProblems, createCertificates, pressByKeyboard } from "@signalbox/testing";
import { settled, watchPage } from "./console-pages.ts";
import { type ConsolePerson, makeKey, startConsolePerson } from "./console-person.ts";
import { assertPresentable } from "./look-at-pages.ts";

/** One person works through all tests, in their order: what one makes, the next looks at. */
let ada: ConsolePerson;
before(async () => {
  ada = await startConsolePerson();
});
after(() => ada.close());

const at = (path: string) => `${ada.baseUrl}/console/${path}`;
const markup = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
const hostile = `${markup} {{7*7}} ${"long".repeat(40)}`;
/** Right-to-left override and isolate, which no text of ours may have: they turn around what follows them. */
const turned = "\u202Eevil\u2067";

test("by keyboard alone a person adds an endpoint, publishes an event, finds why it failed and sends it again", async () => {
  const { page, receiver } = ada;
  const problems = watchPage(page);
  receiver.answer({ status: 500, body: `${hostile} ${turned}` });
  await page.goto(at(""));
  await pressByKeyboard(page, page.getByRole("link", { name: "Add the address" }));
  await pressByKeyboard(page, page.getByLabel("Receiver URL"), `${receiver.url}/hooks`);
  await pressByKeyboard(page, page.getByLabel("Description"), hostile);
  await pressByKeyboard(page, page.getByRole("button", { name: "Add the endpoint" }));
  await page.getByRole("heading", { name: "The endpoint was added" }).waitFor();
  await page.getByText(/^whsec_[A-Za-z0-9+/=]+$/).waitFor();

  await pressByKeyboard(page, page.getByRole("link", { name: "Events", exact: true }));
  await pressByKeyboard(page, page.getByRole("button", { name: "Publish a test event" }));
  await pressByKeyboard(page, page.getByRole("button", { name: "Publish", exact: true }));
  await pressByKeyboard(page, page.getByRole("link", { name: "View deliveries" }));
  await pressByKeyboard(page, page.getByRole("link", { name: "test.ping" }).first());
  await page.getByText("HTTP 500").first().waitFor();
  await page.getByRole("region", { name: "response body of attempt 1" }).getByText(markup).waitFor();

  receiver.answer({ status: 200 });
  await pressByKeyboard(page, page.getByRole("button", { name: "Send again" }));
  await page.getByText("The receiver answered with 2xx.").waitFor();
  await pressByKeyboard(page, page.getByRole("link", { name: "Why?" }));
  await page.getByRole("table", { name: "Steps" }).waitFor();
  assert.equal(await page.evaluate("window.hacked"), undefined, "no text becomes a script");
  assert.deepEqual(problems, []);
});

test("the first delivery replaces the checklist on home by the day", async () => {
  const { page } = ada;
  await page.goto(at(""));
  await page.getByRole("img", { name: /^Attempts by hour: \d+ delivered, \d+ failed$/ }).waitFor();
  await page.getByRole("table", { name: "Newest events" }).waitFor();
  assert.equal(await page.getByText("Your first delivery").count(), 0);
});

test("the side bar opens only the group of its page, by keyboard and on a phone", async () => {
  const { page } = ada;
  const bar = page.getByRole("navigation", { name: "Pages of the console" });
  const [endpoints, received] = ["Endpoints", "Received"].map((name) => bar.getByRole("link", { name }));
  assert.ok(endpoints && received);
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(at("webhooks/deliveries"));
    await endpoints.waitFor();
    assert.deepEqual(await bar.getByRole("heading", { level: 2 }).allTextContents(), [
      "Webhooks out",
      "Webhooks in",
      "Operations",
    ]);
    assert.equal(await received.count(), 0, "a closed group has no link for a screen reader or for Tab");
    await pressByKeyboard(page, bar.locator("summary", { hasText: "Webhooks in" }));
    await pressByKeyboard(page, received);
    await page.getByRole("heading", { name: "Received", level: 1 }).waitFor();
    assert.equal(await endpoints.count(), 0);
    assert.deepEqual(await accessibilityProblems(page), [], `at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("the address of a list and its curl have the same filters", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/deliveries"));
  await page.getByLabel("Status").selectOption("exhausted");
  await page.getByText("No delivery matches these filters.").waitFor();
  assert.equal(page.url(), at("webhooks/deliveries?status=exhausted"));
  await page.getByText("Show as curl").click();
  await page.getByText("/api/v1/webhooks/deliveries?status=exhausted'").waitFor();
  await page.reload();
  assert.equal(await page.getByLabel("Status").inputValue(), "exhausted");
  await page.goBack();
});

test("a sign-in that ends in the middle of an edit loses nothing: the same change goes out after the next sign-in", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/endpoints"));
  await page.getByRole("link", { name: "/hooks" }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Description").fill("typed before the end");
  // The token is refused once, and the issuer would ask the person.
  const error = { code: "unauthorized", message: "The token has ended.", request_id: "r", doc_url: "/docs/errors" };
  await page.route("**/api/v1/webhooks/endpoints/*", (route) => route.fulfill({ status: 401, json: { error } }), {
    times: 1,
  });
  await page.route("**/oauth/authorize?*", (route) => route.fulfill({ body: "sign in" }), { times: 1 });
  await page.getByRole("button", { name: "Save" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Your sign-in has ended" });
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("typed before the end").first().waitFor();
  await page.getByRole("button", { name: "Edit" }).waitFor();
});

test("a secret is revealed after a recent sign-in, which the person is asked for on the spot", async () => {
  const { page } = ada;
  const details = [{ field: "authorization", code: "step_up_required", message: "Sign in again." }];
  const error = { code: "forbidden", message: "This needs a recent sign-in.", request_id: "r", doc_url: "/", details };
  await page.route("**/secret/reveal", (route) => route.fulfill({ status: 403, json: { error } }), { times: 1 });
  await page.getByRole("button", { name: "Reveal" }).click();
  await page
    .getByRole("alertdialog", { name: "This needs a recent sign-in" })
    .getByRole("button", { name: "Sign in" })
    .click();
  await page.getByText(/^whsec_[A-Za-z0-9+/=]+$/).waitFor();
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Revoke the previous secret" }).waitFor();
});

test("by keyboard a dialog keeps the focus until Escape returns it", async () => {
  const { page } = ada;
  const rotate = page.getByRole("button", { name: "Rotate" });
  const dialog = page.getByRole("dialog", { name: "Rotate" });
  await pressByKeyboard(page, rotate);
  // The title is said first; no press that follows too early rotates anything.
  assert.equal(await dialog.evaluate((one) => one === one.ownerDocument.activeElement), true);
  for (let tabs = 0; tabs < 8; tabs++) {
    await page.keyboard.press("Tab");
    const isOnPage = await page.evaluate("document.activeElement.closest('header, main') !== null");
    assert.equal(isOnPage, false, `after ${tabs + 1} times Tab`);
  }
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await rotate.evaluate((one) => one === one.ownerDocument.activeElement), true);
});

test("the code that verifies is that which the documents have tested", async () => {
  const { page } = ada;
  const code = (language: string) => page.getByRole("region", { name: `code in ${language}` });
  await code("Node").getByText("timingSafeEqual(given, wanted)").waitFor();
  await page.getByRole("button", { name: "Python" }).click();
  await code("Python").getByText("hmac.compare_digest").waitFor();
  await page.getByRole("button", { name: "Go", exact: true }).click();
  await code("Go").getByText("hmac.Equal(given, digest.Sum(nil))").waitFor();
});

test("nobody's change is lost unseen when two people edit one endpoint", async () => {
  const { page, context } = ada;
  const other = await context.newPage();
  await other.goto(page.url());
  for (const one of [page, other]) await one.getByRole("button", { name: "Edit" }).click();
  await other.getByLabel("Description").fill("theirs");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByRole("button", { name: "Edit" }).waitFor();
  await page.getByLabel("Description").fill("mine");
  await page.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("alertdialog", { name: "has changed in the meantime" });
  await conflict.getByRole("row", { name: "description mine theirs" }).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await conflict.getByRole("button", { name: "Overwrite with mine" }).click();
  await page.getByRole("button", { name: "Edit" }).waitFor();
  await page.getByText("mine", { exact: true }).waitFor();
  await other.close();
});

test("a replay is counted before it starts, then shown as done", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/replays"));
  await page.getByLabel("Endpoint").selectOption({ index: 1 });
  await page.getByLabel("Status").selectOption("succeeded");
  await page.getByRole("button", { name: "Count first" }).click();
  await page.getByRole("button", { name: /^Send \d+ again$/ }).click();
  await page.getByRole("table", { name: "Replays" }).getByText("done").waitFor();
});

test("a retry of all endpoints is counted before it starts", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/replays"));
  await page.getByRole("button", { name: "Count first" }).click();
  await page
    .getByText(/there is nothing to send again|^Send \d+ again$/)
    .first()
    .waitFor();
});

test("the pages say in words what is gone, refused or out of reach, but hide what a key may not do", async () => {
  const { page, context, browser } = ada;
  await page.goto(at("webhooks/deliveries/whd_none"));
  await page.getByText("Not found: delivery").waitFor();
  await context.setOffline(true);
  await page.getByText("You are offline. You see the last data").waitFor();
  await context.setOffline(false);

  const reader = await (await browser.newContext()).newPage();
  await reader.goto(at("webhooks/endpoints"));
  await reader.getByRole("button", { name: "Sign in" }).waitFor();
  assert.deepEqual(await accessibilityProblems(reader), []);
  await reader.getByLabel("Or an API key").fill(await makeKey(ada, ["webhooks:read", "account:read"]));
  await reader.getByRole("button", { name: "Use the key" }).click();
  await reader.getByRole("link", { name: "/hooks" }).waitFor();
  assert.equal(await reader.getByRole("link", { name: "Add an endpoint" }).count(), 0);
  const kept = await reader.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  assert.doesNotMatch(String(kept), /sbx_/);
});

test("an endpoint's rate, headers, metadata and client certificate are edited, and a hidden value stays without being shown", async (t) => {
  const { page, receiver } = ada;
  const { certFile, keyFile, remove } = await createCertificates();
  t.after(remove);
  const [certificate, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  await page.goto(at("webhooks/endpoints"));
  await page.getByRole("link", { name: "/hooks" }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await pressByKeyboard(page, page.getByText("Rate, headers, metadata and client certificate"));
  await pressByKeyboard(page, page.getByLabel("Rate limit"), "50");
  await pressByKeyboard(page, page.getByRole("button", { name: "Add a header" }));
  await pressByKeyboard(page, page.getByLabel("Name of header 1"), "X-Team");
  await pressByKeyboard(page, page.getByLabel("Value of header 1"), "blue");
  await pressByKeyboard(page, page.getByRole("button", { name: "Add a header" }));
  await pressByKeyboard(page, page.getByLabel("Name of header 2"), "Authorization");
  await page.getByLabel("hidden").nth(1).check();
  await page.getByLabel("Value of header 2").fill("Bearer of-the-receiver");
  await pressByKeyboard(page, page.getByRole("button", { name: "Add an entry" }));
  await page.getByLabel("Name of entry 1").fill("plan");
  await page.getByLabel("Value of entry 1").fill("pro");
  await page.getByLabel("Certificate with its chain").fill("no certificate");
  await page.getByLabel("Private key").fill(key);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The certificate cannot be read: it must be PEM.").first().waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByLabel("Certificate with its chain").fill(certificate);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("row", { name: /^rate .*50/ }).waitFor();

  // Saved once more as it is shown: the hidden value is not typed again, and the text is taken off.
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByText("Rate, headers, metadata and client certificate").click();
  await page.getByText("In use: CN=localhost").waitFor();
  assert.equal(await page.getByLabel("Value of header 2").inputValue(), "");
  assert.equal(await page.getByLabel("Private key").inputValue(), "");
  await page.getByLabel("Remove it").check();
  await page.getByRole("button", { name: "Remove entry 1" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("delivered", { exact: true }).waitFor();
  const { headers } = receiver.requests.at(-1) ?? {};
  assert.deepEqual([headers?.["x-team"], headers?.authorization], ["blue", "Bearer of-the-receiver"]);
});

/** Pages by their addresses; those with a name are pictured in the documents. */
const shown: ReadonlyArray<readonly [path: string, picture?: string]> = [
  ["", "home"],
  ["webhooks/endpoints"],
  ["webhooks/endpoints/new"],
  ["webhooks/deliveries"],
  ["webhooks/replays"],
  ["webhooks/event-types?name=image.created"],
  ["webhooks/events?publish=yes"],
];
test("every page is accessible in light and dark and fits its screen, at 320, 360 and 1280 pixels", async () => {
  const { page } = ada;
  const hrefOf = async (list: string, name: string) => {
    await page.goto(at(list));
    const href = await page.getByRole("link", { name }).first().getAttribute("href");
    return String(href).replace("/console/", "");
  };
  const endpoint = await hrefOf("webhooks/endpoints", "/hooks");
  const delivery = await hrefOf("webhooks/deliveries", "test.ping");
  for (const [path, picture] of [...shown, [endpoint, "endpoint"] as const, [delivery, "delivery"] as const]) {
    await page.goto(at(path));
    await settled(page);
    await assertPresentable(page, path, picture);
  }
});

test("nothing moves by itself, with reduced motion or without", async () => {
  const { page } = ada;
  for (const reducedMotion of ["reduce", "no-preference"] as const) {
    await page.emulateMedia({ reducedMotion });
    await page.goto(at("webhooks/endpoints"));
    await page.getByRole("table", { name: "Endpoints" }).waitFor();
    assert.equal(await page.evaluate("document.getAnimations().length"), 0, reducedMotion);
  }
});

test("signing out everywhere ends the sign-in of this page too", async () => {
  const { page } = ada;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(at(""));
  await page.getByText("Ada").click();
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByText("You are signed out everywhere.").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
});
