import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { serve, startBehindEdge } from "./behind-edge.ts";
import { codeTo } from "./oauth-visitor.ts";

/** The page of the how-to, with another client and another address. */
async function pageOfHowTo(clientId: string, api: string): Promise<string> {
  const [, html = ""] = /```html\n(.*?)\n```/s.exec(await readFile("docs/how-to/let-people-sign-in.md", "utf8")) ?? [];
  const filled = html.replace("app_3tRq8Lc5WfYkKb0ZnVxPsd", clientId).replace("http://127.0.0.1:8080", api);
  assert.ok(filled.includes(clientId) && filled.includes(api), "the how-to has both to be replaced");
  return filled;
}

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
