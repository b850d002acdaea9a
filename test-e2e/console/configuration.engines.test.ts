import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pressByKeyboard } from "@signalbox/testing";
import { watchPage } from "./console-pages.ts";
import { type ConsolePerson, create, type Page, startConsolePerson } from "./console-person.ts";
import { assertPresentable, examineStates } from "./look-at-pages.ts";

/** Two operators of a deployment in which changes of guarded properties need both. */
let ada: ConsolePerson;
let grace: Page;
let graceKey: string;
before(async () => {
  ada = await startConsolePerson({ "config.approval": "guarded" });
  const scopes = ["account:read", "account:security", "account:admin", "config:read", "config:admin"];
  const key = { name: "second operator", scopes };
  const created = await create<{ api_key: { key: string } }>(ada, "accounts", {
    display_name: "Grace",
    role: "admin",
    key,
  });
  graceKey = created.api_key.key;
  grace = await (await ada.browser.newContext()).newPage();
});
after(() => ada.close());

const at = (path: string) => `${ada.baseUrl}/console/${path}`;

/** Opens a page as Grace, whose key a page keeps in its memory alone. */
async function openAsGrace(url: string): Promise<void> {
  await grace.goto(url);
  await grace.getByLabel("Or an API key").fill(graceKey);
  await grace.getByRole("button", { name: "Use the key" }).click();
  await grace.getByRole("heading", { level: 1 }).waitFor();
}

/** Proposes another value of the guarded property, and returns the address of the proposal. */
async function propose(page: Page, value: string, press = click): Promise<string> {
  await page.goto(at("properties/webhook-ingest.tolerance"));
  await page.getByText("You propose it with a reason, and another operator decides.").waitFor();
  await press(page, page.getByRole("textbox", { name: "Value" }), value);
  await press(page, page.getByLabel("Reason"), "Recorded webhooks were replayed.");
  await press(page, page.getByLabel("Expires after hours"), "48");
  await press(page, page.getByRole("button", { name: "Preview" }));
  await page
    .getByText(/^Allowed\. Once it is approved, the value would change from .* to \d+ and apply at once\.$/)
    .waitFor();
  await press(page, page.getByRole("button", { name: "Propose it" }));
  await press(page, page.getByRole("link", { name: "View the proposal" }));
  await page.waitForURL(/proposals\/chg_/);
  return page.url();
}

const click = async (_page: Page, target: ReturnType<Page["locator"]>, text?: string) =>
  text === undefined ? target.click() : target.fill(text);

test("by keyboard alone one operator proposes a change of a guarded property, which another one approves", async () => {
  const { page } = ada;
  const problems = watchPage(page);
  const value = "90000";
  await page.goto(at("properties/webhook-ingest.tolerance"));
  await pressByKeyboard(page, page.getByRole("textbox", { name: "Value" }), "1");
  await pressByKeyboard(page, page.getByLabel("Reason"), "Too small.");
  await pressByKeyboard(page, page.getByRole("button", { name: "Preview" }));
  await page
    .getByText(/webhook-ingest\.tolerance must be .*1000/)
    .first()
    .waitFor();
  await assertPresentable(page, "a refused proposal");
  const proposal = await propose(page, value, pressByKeyboard);
  await page.getByText("You proposed this, so another operator decides.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0, "the author cannot approve");

  await openAsGrace(proposal);
  const change = grace.getByRole("row", {
    name: new RegExp(`webhook-ingest.tolerance .*${value} unchanged`),
  });
  await change.waitFor();
  await assertPresentable(grace, "a proposal");
  await pressByKeyboard(grace, grace.getByRole("button", { name: "Approve" }));
  await pressByKeyboard(grace, grace.getByRole("button", { name: "Preview" }));
  await grace.getByText("Allowed: nobody has changed these properties since").waitFor();
  await assertPresentable(grace, "an approval that is tried first");
  await pressByKeyboard(grace, grace.getByRole("button", { name: "Approve them" }));
  await grace
    .getByText(new RegExp(`^webhook-ingest.tolerance is ${value}: (\\d+) of \\1 instances run with it\\.$`))
    .waitFor();
  await grace.getByText("approved", { exact: true }).waitFor();
  await grace.getByRole("table", { name: "Changes" }).getByRole("columnheader", { name: "Before" }).waitFor();
  await grace.getByRole("row", { name: new RegExp(`webhook-ingest.tolerance .*not overridden ${value}$`) }).waitFor();

  await page.goto(at("properties/webhook-ingest.tolerance"));
  await page.getByRole("table", { name: "Overrides" }).getByText(value, { exact: true }).waitFor();
  assert.deepEqual(problems, []);
});

test("a proposal is withdrawn, or rejected with a reason that its author reads", async () => {
  const { page } = ada;
  const first = await propose(page, "120000");
  await page.goto(at("properties/webhook-ingest.tolerance"));
  await page.getByRole("link", { name: "A change is proposed" }).click();
  await page.waitForURL(first);
  await openAsGrace(at("proposals?state=open"));
  await grace.getByRole("link", { name: "webhook-ingest.tolerance" }).click();
  await grace.getByRole("button", { name: "Reject" }).click();
  await grace.getByLabel("Reason").fill("Sixty seconds are enough.");
  await assertPresentable(grace, "a rejection");
  await grace.getByRole("button", { name: "Reject it" }).click();
  await grace.getByText("rejected", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("Sixty seconds are enough.").waitFor();
  await assertPresentable(page, "a rejected proposal");

  await propose(page, "130000");
  await page.getByRole("button", { name: "Withdraw" }).click();
  await page.getByRole("button", { name: "Withdraw it" }).click();
  await page.getByText("withdrawn", { exact: true }).waitFor();
});

test("a property that was changed since blocks the approval of a proposal, as the page says before", async () => {
  const { page } = ada;
  const stale = await propose(page, "140000");
  const newer = await propose(page, "150000");
  for (const [proposal, text] of [
    [newer, /instances run with it\.$/],
    [stale, "It has changed in the meantime"],
  ] as const) {
    await openAsGrace(proposal);
    await grace.getByRole("button", { name: "Approve" }).click();
    await grace.getByRole("button", { name: "Preview" }).click();
    if (proposal === newer) await grace.getByRole("button", { name: "Approve them" }).click();
    await grace.getByText(text).waitFor();
  }
  await assertPresentable(grace, "an approval that is refused");
  await grace.getByRole("button", { name: "Cancel" }).click();
  await grace.getByText("It can no longer be approved. Propose it again.").waitFor();
  await openAsGrace(at("proposals"));
  await grace.getByRole("table", { name: "Proposals" }).getByText("rejected").waitFor();
  await assertPresentable(grace, "proposals");
});

test("the pages of proposals say when they load, are empty, refused, out of reach or gone", async () => {
  const { page } = ada;
  const empty = { data: { proposals: { edges: [], pageInfo: { hasNextPage: false, endCursor: null } } } };
  await examineStates(page, {
    url: at("proposals"),
    path: "/graphql",
    empty: ["Nobody has proposed a change.", empty],
  });
  await page.goto(at("proposals?text=none"));
  await page.getByText("No proposal matches these filters.").waitFor();
  await page.goto(at("proposals/chg_none"));
  await page.getByText("There is no such proposal").waitFor();
  await assertPresentable(page, "a proposal that is gone");
});
