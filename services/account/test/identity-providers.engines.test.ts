import { test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { serve, startBehindEdge } from "./behind-edge.ts";
import { corp, startForeignProvider } from "./foreign-provider.ts";
import { codeTo, nativeApplication } from "./oauth-visitor.ts";

test("a person connects an identity provider with their account in a browser", async (t) => {
  const application = await serve(t, (_request, response) => response.end("back in the application"));
  let callback = "";
  const foreign = await startForeignProvider(() => callback);
  t.after(() => foreign.close());
  const { edge, account } = await startBehindEdge(t, "localhost", {
    "account.identity-providers": JSON.stringify([{ ...corp, title: "Corp", issuer: foreign.issuer }]),
    "account.outbound.allow": ["127.0.0.1:*"],
  });
  callback = `${edge}/oauth/callback/corp`;
  const address = `${crypto.randomUUID()}@example.org`;
  foreign.expect({ sub: "ada", email: address, email_verified: true });
  const back = `${application}/back`;
  const request = new URLSearchParams({
    client_id: nativeApplication.client_id,
    redirect_uri: back,
    response_type: "code",
    scope: "openid",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    prompt: "login",
  });
  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const open = () => page.goto(`${edge}/oauth/authorize?${request}`);
  const typeCode = async (count: number) => {
    await page.getByLabel("Code", { exact: true }).fill(await codeTo(account, address, count));
    await page.getByLabel("Code", { exact: true }).press("Enter");
  };

  await open();
  await page.getByLabel("E-mail address").fill(address);
  await page.getByLabel("E-mail address").press("Enter");
  await typeCode(1);
  await page.waitForURL(`${back}?code=**`);

  await open();
  await page.getByRole("link", { name: "Continue with Corp" }).click();
  await page.getByRole("heading", { name: "Is this your account?" }).waitFor();
  await page.getByRole("button", { name: "Send me a code" }).click();
  await typeCode(2);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.waitForURL(`${back}?code=**`);

  await open();
  await page.getByRole("link", { name: "Continue with Corp" }).click();
  await page.waitForURL(`${back}?code=**`);
});
