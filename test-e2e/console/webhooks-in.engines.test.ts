import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { pressByKeyboard } from "@signalbox/testing";
import { watchPage } from "./console-pages.ts";
import { type ConsolePerson, makeKey, startConsolePerson } from "./console-person.ts";
import { assertPresentable } from "./look-at-pages.ts";

/** One person works through all tests, in their order: what one makes, the next looks at. */
let ada: ConsolePerson;
before(async () => {
  ada = await startConsolePerson();
});
after(() => ada.close());

const at = (path: string) => `${ada.baseUrl}/console/${path}`;
const markup = `<img src=x onerror="window.hacked=1">`;

/** Posts a webhook as GitHub does. */
async function sendAsGitHub(url: string, secret: string, event = "ping", body = `{"zen":"${event}"}`): Promise<number> {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-github-event": event,
    "x-github-delivery": crypto.randomUUID(),
    "x-hub-signature-256": `sha256=${signature}`,
  };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

test("without a source every page leads to the first, accessible in every look and width", async () => {
  const { page } = ada;
  for (const path of ["webhooks/sources", "webhooks/received", "webhooks/rejections"]) {
    await page.goto(at(path));
    await page.getByText("There is no source yet").waitFor();
    await assertPresentable(page, `empty ${path}`);
  }
  await page.goto(at("webhooks/connect?text=nobody"));
  await page.getByRole("link", { name: "Another sender" }).waitFor();
});

test("by keyboard alone a person connects GitHub with nothing but the page, even after a wrong secret", async () => {
  const { page } = ada;
  const problems = watchPage(page);
  await page.goto(at("webhooks/sources"));
  await pressByKeyboard(page, page.getByRole("link", { name: "Connect a sender" }).first());
  await page.getByRole("list", { name: "Senders" }).waitFor();
  await assertPresentable(page, "connect");
  await pressByKeyboard(page, page.getByLabel("Sender name"), "github");
  await page.keyboard.press("Enter");
  await page.waitForURL(/text=github/);
  await pressByKeyboard(page, page.getByRole("link", { name: "GitHub", exact: true }));
  await page.getByText("Settings → Webhooks").first().waitFor();
  await pressByKeyboard(page, page.getByLabel("Name", { exact: true }), "GitHub by keyboard");
  await page.getByLabel("I have one").check();
  await pressByKeyboard(page, page.getByLabel("Secret", { exact: true }), "not the one at GitHub");
  await assertPresentable(page, "the guide");
  await pressByKeyboard(page, page.getByRole("button", { name: "Create the address" }));
  await page.getByText("Nothing received yet").waitFor();
  await assertPresentable(page, "the guide waits");

  const secret = "the one at GitHub";
  const url = String(await page.getByText(/\/ingest\/src_\w+$/).textContent());
  assert.equal(await sendAsGitHub(url, secret), 401);
  await page
    .getByRole("heading", { name: "The signature was made with another secret, or over other bytes." })
    .waitFor();
  await page.getByText("Received headers: x-hub-signature-256.").waitFor();
  await assertPresentable(page, "the guide explains a refusal", "guide-refused");
  await pressByKeyboard(page, page.getByRole("button", { name: "Retry" }));
  await page.getByText("The webhook is refused again: signature_mismatch.").waitFor();
  await pressByKeyboard(page, page.getByLabel("Secret of the sender"), secret);
  await pressByKeyboard(page, page.getByRole("button", { name: "Save the secret" }));
  await page.getByText("The secret was saved.").waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Retry" }));
  await page.getByText(/is connected\./).waitFor();
  assert.equal(await sendAsGitHub(url, secret, "push"), 202);
  await page.getByText("push", { exact: true }).waitFor();
  await assertPresentable(page, "the guide is done");
  await pressByKeyboard(page, page.getByRole("link", { name: "View webhook" }));
  await page.getByRole("region", { name: "received body" }).getByText("push").waitFor();
  // The browser reports the refused retry, which the page has explained.
  assert.deepEqual(
    problems.filter((problem) => !problem.includes("status of 409")),
    [],
  );
});

test("a secret that is made for the person is shown once; what it signs is accepted", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/connect/github"));
  await page.getByRole("button", { name: "Create the address" }).click();
  const url = String(await page.getByText(/\/ingest\/src_\w+$/).textContent());
  const secret = String(await page.getByText(/^[0-9a-f]{64}$/).textContent());
  assert.equal(await sendAsGitHub(url, secret), 202);
  await page.getByText("GitHub is connected.").waitFor();
  await page.reload();
  await page.getByText("The secret is not shown again.").waitFor();
  await page.getByText("GitHub is connected.").waitFor();
  assert.equal(await page.getByText(secret).count(), 0);
});

test("a sender that shows its secret only later gets a provisional one; no public key is made up", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/connect/stripe"));
  await page.getByLabel("The sender shows it once").check();
  await page.getByRole("button", { name: "Create the address" }).click();
  await page.getByRole("heading", { name: "3. Secret" }).waitFor();
  await page.getByRole("heading", { name: "4. First webhook" }).waitFor();
  await page.goto(at("webhooks/connect/discord"));
  await page.getByLabel("I have one").waitFor();
  assert.equal(await page.getByLabel("Generate one").count(), 0);
  await page.goto(at("webhooks/connect/google-pubsub"));
  await page.getByText("audience: The audience that the push subscription gives its tokens.").waitFor();
});

test("lists keep their filters in the address, count the day and show their curl", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/sources"));
  await page.getByLabel("Name or id").fill("by keyboard");
  await page.keyboard.press("Enter");
  await page.waitForURL(/text=by\+keyboard/);
  await page.getByRole("row", { name: /Stripe/ }).waitFor({ state: "detached" });
  await page.getByRole("img", { name: "Webhooks: 2 accepted, 0 duplicates, 1 rejected" }).waitFor();
  await page.getByText("Show as curl").click();
  await page.getByText("/api/v1/webhooks/sources?text=by+keyboard'").waitFor();
  await page.getByLabel("Name or id").fill("");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /Stripe/ }).waitFor();
  await assertPresentable(page, "sources");

  await page
    .getByRole("row", { name: /by keyboard/ })
    .getByRole("link", { name: "1", exact: true })
    .click();
  await page.getByText("received later").waitFor();
  await assertPresentable(page, "rejections");
  await page.getByLabel("Reason").selectOption("timestamp_too_old");
  await page.getByText("No rejection matches these filters.").waitFor();
  await page.goBack();
  await page.goto(at(`webhooks/rejections?source_id=${await sourceId("by keyboard")}`));
  await page.getByRole("link", { name: "The signature was made with another secret" }).click();
  await page.getByText("It was retried and").waitFor();
  await page.getByRole("region", { name: "received body" }).getByText("zen").waitFor();
  await assertPresentable(page, "a rejection");

  await page.goto(at(`webhooks/received?source_id=${await sourceId("by keyboard")}&event_type=push`));
  await page.getByRole("link", { name: "push" }).waitFor();
  assert.equal(await page.getByRole("table", { name: "Received webhooks" }).getByRole("row").count(), 2);
  await assertPresentable(page, "received");
});

/** Finds a source by a part of its name, as the page links it. */
async function sourceId(name: string): Promise<string> {
  const { page } = ada;
  await page.goto(at("webhooks/sources"));
  const href = await page.getByRole("link", { name }).first().getAttribute("href");
  return String(href).split("/").at(-1) as string;
}

test("one received webhook is kept under a name, then published again after it was counted", async () => {
  const { page } = ada;
  const id = await sourceId("by keyboard");
  await page.goto(at(`webhooks/received?source_id=${id}`));
  await page.getByRole("link", { name: "push" }).click();
  await page.getByRole("button", { name: "Bookmark" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("first-push");
  await page.getByRole("button", { name: "Save it" }).click();
  await page.getByText("Bookmarked as first-push").waitFor();
  await page.getByRole("button", { name: "Publish again" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Publish again" }).click();
  await assertPresentable(page, "one received", "received");
  await page.getByRole("link", { name: "Published again" }).click();
  await page.getByRole("table", { name: "Replays" }).getByText("completed").waitFor();
  await page.getByLabel("Types").fill("push");
  await page.getByRole("button", { name: "Count first" }).click();
  await page.getByRole("button", { name: "Publish 1 again" }).waitFor();
  await assertPresentable(page, "replays of a source");
  await page.getByRole("button", { name: "Publish 1 again" }).click();
  await page.getByText("1 of 1").nth(1).waitFor();
});

test("all kept rejections of a source are counted, then verified again", async () => {
  const { page } = ada;
  const id = await sourceId("by keyboard");
  await page.goto(at(`webhooks/sources/${id}`));
  const url = String(
    await page
      .getByText(/\/ingest\/src_\w+$/)
      .first()
      .textContent(),
  );
  assert.equal(await sendAsGitHub(url, "a wrong secret"), 401);
  await page.goto(at(`webhooks/rejections?source_id=${id}`));
  await page.getByRole("link", { name: "Verify all again" }).click();
  await page.getByLabel("Reason").selectOption("signature_mismatch");
  await page.getByRole("button", { name: "Count first" }).click();
  await page.getByRole("button", { name: "Verify 1 again" }).click();
  await page.getByText("1 refused again").waitFor();
  await assertPresentable(page, "retries of a source");
});

test("what is kept under a name is found there with its bytes, until it is deleted", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/received"));
  await page.getByRole("link", { name: "All bookmarks" }).click();
  await page.getByRole("link", { name: "first-push" }).click();
  await page.getByRole("region", { name: "received body" }).getByText("push").waitFor();
  await assertPresentable(page, "a bookmark");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No bookmarks yet.").waitFor();
  await assertPresentable(page, "no bookmarks");
});

test("a list that cannot be read says what to do until a new try succeeds", async () => {
  const { page } = ada;
  const error = { code: "unavailable", message: "The database does not answer.", request_id: "r", doc_url: "/" };
  let isAway = true;
  await page.route("**/api/v1/webhooks/sources?*", (route) =>
    isAway ? route.fulfill({ status: 503, headers: { "retry-after": "0" }, json: { error } }) : route.continue(),
  );
  await page.goto(at("webhooks/sources"));
  await page.getByText("Unavailable right now: sources").waitFor();
  await assertPresentable(page, "sources that cannot be read");
  isAway = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "GitHub by keyboard" }).waitFor();
  await page.unroute("**/api/v1/webhooks/sources?*");
});

test("a pasted webhook is verified: the failed step, then a hint, then accepted", async () => {
  const { page } = ada;
  await page.goto(at(`webhooks/sources/${await sourceId("by keyboard")}/verify`));
  const body = '{"zen":"pasted"}';
  const signature = createHmac("sha256", "the one at GitHub").update(body).digest("hex");
  await page.getByLabel("Headers").fill("no header");
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("Headers: line 1 has no colon.").waitFor();
  const headers = `Content-Type: application/json\nX-GitHub-Event: push\nX-Hub-Signature-256: sha256=${signature}`;
  await page.getByLabel("Headers").fill(headers);
  await page.getByLabel("Body").fill(`${body}\n`);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("It would verify without the line break at its end.").waitFor();
  await assertPresentable(page, "verify", "verify");
  await page.getByLabel("Body").fill(body);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByRole("heading", { name: "It would be accepted" }).waitFor();
});

test("a source is paused, resumed and edited; its secret and address are rotated", async () => {
  const { page, context } = ada;
  await page.goto(at(`webhooks/sources/${await sourceId("by keyboard")}`));
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Pause" }).click();
  await page.getByText("It answers 503, so that the sender retries.").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("It accepts webhooks.").waitFor();

  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("textbox", { name: "Next secret" }).fill("the next one at GitHub");
  await page.getByRole("button", { name: "Save the secret" }).click();
  await page.getByRole("button", { name: "Revoke the previous secret" }).waitFor();
  await page.getByRole("button", { name: "Change the address" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Change the address" }).click();
  await page.getByRole("button", { name: "Revoke the previous address" }).waitFor();
  assert.equal(await page.getByRole("table", { name: "Addresses" }).getByText("never").count(), 1);
  await assertPresentable(page, "a source", "source");

  const other = await context.newPage();
  await other.goto(page.url());
  for (const one of [page, other]) await one.getByRole("button", { name: "Edit" }).click();
  await other.getByLabel("Name").fill(`theirs ${markup}`);
  await other.getByLabel("Types").fill("ping");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByRole("button", { name: "Edit" }).waitFor();
  await page.getByLabel("Types").fill("push");
  await page.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("alertdialog", { name: "has changed in the meantime" });
  await conflict.getByRole("row", { name: "event types push ping" }).waitFor();
  await assertPresentable(page, "both versions of a source");
  await conflict.getByRole("button", { name: "Use the saved version" }).click();
  assert.equal(await page.getByLabel("Name").inputValue(), `theirs ${markup}`);
  await page.getByLabel("Other settings").fill("{");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Settings: this is not JSON.").waitFor();
  await page.getByLabel("Other settings").fill('{"tolerance_seconds": 1}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("settings.tolerance_seconds").waitFor();
  await assertPresentable(page, "an edit that was refused");
  await page.getByLabel("Other settings").fill('{"tolerance_seconds": 60}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("row", { name: "tolerance seconds 60 source" }).waitFor();
  await page.getByRole("heading", { name: `theirs ${markup}` }).waitFor();
  assert.equal(await page.evaluate("window.hacked"), undefined, "no text becomes a script");
  await other.close();
});

test("what is gone or not allowed is said in words", async () => {
  const { page, browser } = ada;
  for (const [path, what] of [
    ["webhooks/sources/src_none", "source"],
    [`webhooks/sources/${await sourceId("theirs")}/received/rcv_none`, "received webhook"],
    [`webhooks/sources/${await sourceId("theirs")}/rejections/rej_none`, "rejection"],
    ["webhooks/connect/nobody", "sender"],
  ] as const) {
    await page.goto(at(path));
    await page.getByText(`Not found: ${what}`).waitFor();
    await assertPresentable(page, `${what} that is gone`);
  }
  const reader = await (await browser.newContext()).newPage();
  await reader.goto(at("webhooks/sources"));
  await reader.getByLabel("Or an API key").fill(await makeKey(ada, ["webhooks:read", "account:read"]));
  await reader.getByRole("button", { name: "Use the key" }).click();
  await reader.getByRole("link", { name: "theirs" }).click();
  await reader.getByText("It accepts webhooks.").waitFor();
  for (const name of ["Edit", "Rotate", "Delete", "Change the address"])
    assert.equal(await reader.getByRole("button", { name }).count(), 0, name);
});
