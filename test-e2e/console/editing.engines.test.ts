import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibilityProblems } from "@signalbox/testing";
import { type ConsolePerson, create, startConsolePerson } from "./console-person.ts";

/** One person edits, leaves, comes back and turns pages. */
let ada: ConsolePerson;
let endpoint: string;
before(async () => {
  ada = await startConsolePerson();
  const body = { url: `${ada.receiver.url}/hooks`, event_types: ["edit.*"] };
  const { id } = await create<{ readonly id: string }>(ada, "v1/webhooks/endpoints", body);
  endpoint = `webhooks/endpoints/${id}`;
});
after(() => ada.close());

const at = (path: string) => `${ada.baseUrl}/console/${path}`;

async function edit(page: ConsolePerson["page"], description: string): Promise<void> {
  await page.goto(at(endpoint));
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Description").fill(description);
}

test("a double click saves once", async () => {
  const { page } = ada;
  const sent: string[] = [];
  page.on("request", (request) => request.method() === "PATCH" && sent.push(request.url()));
  await edit(page, "pressed twice");
  await page.getByRole("button", { name: "Save" }).dblclick();
  await page.getByText("pressed twice", { exact: true }).waitFor();
  assert.equal(sent.length, 1);
});

test("Escape of the question about two versions returns to what was typed", async () => {
  const { page, context } = ada;
  await edit(page, "mine");
  const other = await context.newPage();
  await edit(other, "theirs");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByRole("button", { name: "Edit" }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  const question = page.getByRole("alertdialog", { name: "The endpoint has changed in the meantime" });
  await question.waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Description").inputValue(), "mine");
  await other.close();
});

test("a form that is left after its question has what was typed when the person comes back", async () => {
  const { page } = ada;
  await page.getByRole("link", { name: "Deliveries", exact: true }).click();
  const question = page.getByRole("alertdialog", { name: "Leave without saving?" });
  assert.deepEqual(await accessibilityProblems(page), []);
  await question.getByRole("button", { name: "Stay" }).click();
  assert.equal(await page.getByLabel("Description").inputValue(), "mine");
  await page.getByRole("link", { name: "Deliveries", exact: true }).click();
  await question.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
  await page.goto(at(endpoint));
  await page.getByRole("button", { name: "Edit" }).click();
  assert.equal(await page.getByLabel("Description").inputValue(), "mine");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  assert.equal(await page.getByLabel("Description").inputValue(), "theirs");
});

test("a filter applies while it is typed, in a field that keeps the focus", async () => {
  const { page } = ada;
  await page.goto(at("webhooks/endpoints"));
  const field = page.getByLabel("Text", { exact: true });
  await field.pressSequentially("nothing of this name");
  await page.getByText("No endpoint matches these filters.").waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await field.evaluate((one) => one === one.ownerDocument.activeElement), true);
  assert.match(page.url(), /text=nothing\+of\+this\+name$/);
});

test("Back returns through the pages of a list", async () => {
  const { page } = ada;
  for (let count = 0; count < 3; count++)
    await create(ada, "account/api-keys", { name: `key ${count}`, scopes: ["images:read"] });
  await page.goto(at("account/keys?limit=2"));
  await page.getByText("2 rows, more follow").waitFor();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByRole("button", { name: "First page" }).waitFor();
  await page.goBack();
  await page.getByText("2 rows, more follow").waitFor();
  assert.match(page.url(), /keys\?limit=2$/);
});

test("an answer with Retry-After is counted down until the page tries again", async () => {
  const { page } = ada;
  const error = { code: "unavailable", message: "Not now.", request_id: "r", doc_url: "/" };
  let isAway = true;
  await page.route("**/api/v1/webhooks/endpoints?*", (route) =>
    isAway ? route.fulfill({ status: 503, headers: { "retry-after": "4" }, json: { error } }) : route.continue(),
  );
  await page.goto(at("webhooks/endpoints"));
  await page.getByText(/^Retrying in [1-4] s\.$/).waitFor();
  isAway = false;
  await page.getByRole("table", { name: "Endpoints" }).waitFor();
  await page.unroute("**/api/v1/webhooks/endpoints?*");
});
