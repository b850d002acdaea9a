import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { serve, startBehindEdge } from "./behind-edge.ts";
import type { Harness } from "./harness.ts";
import { codeTo, nativeApplication } from "./oauth-visitor.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>["newPage"]>>;

const freshAddress = () => `${crypto.randomUUID()}@example.org`;

/** The request of an application, which never redeems its code. */
const requestOf = (edge: string, redirect: string, more: Readonly<Record<string, string>> = {}) =>
  `${edge}/oauth/authorize?${new URLSearchParams({
    client_id: nativeApplication.client_id,
    redirect_uri: redirect,
    response_type: "code",
    scope: "openid",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    ...more,
  })}`;

async function arrange(t: TestContext) {
  const application = await serve(t, (_request, response) => response.end("back in the application"));
  const { edge, account } = await startBehindEdge(t);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  const [first, second] = [await context.newPage(), await context.newPage()];
  return { edge, account, first, second, back: `${application}/back` };
}

/** Passes the pages up to the code. */
async function typeAddress(page: Page, address: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(address);
  await page.getByLabel("E-mail address").press("Enter");
  await page.getByLabel("Code", { exact: true }).waitFor();
}

async function typeCode(page: Page, account: Harness, address: string, count = 1): Promise<void> {
  await page.getByLabel("Code", { exact: true }).fill(await codeTo(account, address, count));
  await page.getByLabel("Code", { exact: true }).press("Enter");
}

test("two people who sign in in two tabs of one browser both arrive at their application", async (t) => {
  const { edge, account, first, second, back } = await arrange(t);
  const [one, other] = [freshAddress(), freshAddress()];
  for (const page of [first, second]) await page.goto(requestOf(edge, back));
  await typeAddress(first, one);
  await typeAddress(second, other);
  await typeCode(first, account, one);
  await first.waitForURL(`${back}?code=**`);
  await typeCode(second, account, other);
  await second.waitForURL(`${back}?code=**`);
});

test("a person signs in again in a tab whose session another tab has replaced", async (t) => {
  const { edge, account, first, second, back } = await arrange(t);
  const [one, other] = [freshAddress(), freshAddress()];
  await first.goto(requestOf(edge, back));
  await typeAddress(first, one);
  await typeCode(first, account, one);
  await first.waitForURL(`${back}?code=**`);
  for (const page of [first, second]) await page.goto(requestOf(edge, back, { prompt: "login" }));
  await typeAddress(second, other);
  await typeCode(second, account, other);
  await second.waitForURL(`${back}?code=**`);
  await typeAddress(first, one);
  await typeCode(first, account, one, 2);
  await first.waitForURL(`${back}?code=**`);
});

test("a native application that listens at [::1] gets its code", async (t) => {
  const server = createServer((_request, response) => response.end("back in the application")).listen(0, "::1");
  await once(server, "listening");
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  const back = `http://[::1]:${(server.address() as AddressInfo).port}/back`;
  const { edge, account } = await startBehindEdge(t, "127.0.0.1", {
    "account.oauth.applications": JSON.stringify([{ ...nativeApplication, redirect_uris: ["http://[::1]/back"] }]),
  });
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const address = freshAddress();
  await page.goto(requestOf(edge, back));
  await typeAddress(page, address);
  await typeCode(page, account, address);
  await page.waitForURL(`${back}?code=**`);
});
