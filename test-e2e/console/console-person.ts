import assert from "node:assert/strict";
import { createMailbox, createReceiver, type Mailbox, openBrowser } from "@signalbox/testing";
import { newDataDirectory, removeData, runEmbedded } from "../systems/embedded-system.ts";
import { freePorts } from "../systems/start-nginx.ts";

export type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>["newPage"]>>;

/** A deployment as `npm start` starts it, a person who has signed in to it, and a receiver of webhooks. */
export type ConsolePerson = Awaited<ReturnType<typeof startConsolePerson>>;

/** Starts a deployment and a browser, and makes Ada its first administrator by the printed link. */
export async function startConsolePerson(more: Readonly<Record<string, string>> = {}) {
  await using starting = new AsyncDisposableStack();
  const dataDirectory = await newDataDirectory();
  const mailbox = starting.adopt(await createMailbox(), (one) => one.close());
  const receiver = starting.adopt(await createReceiver(), (one) => one.close());
  // The issuer returns to the name that it knows.
  const port = String((await freePorts(["http"])).get("http"));
  const baseUrl = `http://localhost:${port}`;
  const properties = {
    "mail.url": mailbox.url,
    "http.port": port,
    "http.base-url": baseUrl,
    "webhook-delivery.outbound.allow": "127.0.0.1:*",
    ...more,
  };
  const system = runEmbedded(dataDirectory, properties, ["--link"]);
  starting.defer(async () => {
    await system.kill();
    await removeData({ dataDirectory });
  });
  const browser = starting.adopt(await openBrowser(), (one) => one.close());
  const [link = ""] = await system.waitForOutput(/^http\S+\/oauth\/first-link\/sbx_link_\S+$/m, 180_000);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: baseUrl });
  const page = await context.newPage();
  await followLink(page, link, mailbox);
  // From here on the caller closes everything; a start that fails has closed it.
  const opened = starting.move();
  return { baseUrl, dataDirectory, browser, context, page, mailbox, receiver, close: () => opened.disposeAsync() };
}

async function followLink(page: Page, link: string, mailbox: Mailbox): Promise<void> {
  const address = `ada-${crypto.randomUUID()}@example.org`;
  await page.goto(link);
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("E-mail address").fill(address);
  await page.keyboard.press("Enter");
  const { text } = await mailbox.mailTo(address, 1);
  const [, code = ""] = /^ {4}(\d{8})$/m.exec(text) ?? [];
  await page.getByLabel("Code", { exact: true }).fill(code);
  await page.keyboard.press("Enter");
  await page.getByText("You are signed in as “Ada”").waitFor();
}

/** Makes a key with these scopes alone, with the token that the page sends. */
export async function makeKey(person: ConsolePerson, scopes: readonly string[]): Promise<string> {
  const { key } = await create<{ key: string }>(person, "account/api-keys", { name: "reader", scopes });
  return key;
}

/** Creates a resource of the API as the person who is signed in, and returns it. */
export async function create<Created>({ page, baseUrl }: ConsolePerson, path: string, body: object): Promise<Created> {
  const asked = page.waitForRequest("**/api/v1/webhooks/endpoints**");
  await page.goto(`${baseUrl}/console/webhooks/endpoints`);
  const { authorization = "" } = await (await asked).allHeaders();
  const headers = { authorization, "content-type": "application/json" };
  const answer = await fetch(`${baseUrl}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Created;
}
