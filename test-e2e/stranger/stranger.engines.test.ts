import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createMailbox, type Mailbox, openBrowser } from "@signalbox/testing";
import { newDataDirectory, removeData, runEmbedded } from "../systems/embedded-system.ts";
import { freePorts } from "../systems/start-nginx.ts";

type Browser = Awaited<ReturnType<typeof openBrowser>>;
type Page = Awaited<ReturnType<Browser["newPage"]>>;

let browser: Browser;
let mailbox: Mailbox;
before(async () => {
  browser = await openBrowser();
  mailbox = await createMailbox();
});
after(async () => {
  await browser.close();
  await mailbox.close();
});

/** Types the code of the newest mail to an address. */
async function typeCode(page: Page, address: string, mailNumber: number): Promise<void> {
  const { text } = await mailbox.mailTo(address, mailNumber);
  const [, code = ""] = /^ {4}(\d{8})$/m.exec(text) ?? [];
  await page.getByLabel("Code", { exact: true }).fill(code);
  await page.keyboard.press("Enter");
}

/** Opens a route of the documents, sends its form, and returns the answer as JSON. */
async function tryRoute(page: Page, operationId: string, body?: object) {
  const route = page.locator(`details#${operationId}`);
  if ((await route.getAttribute("open")) === null) await route.locator("summary").first().click();
  if (body) await route.locator("textarea").fill(JSON.stringify(body));
  await route.getByRole("button", { name: "Send" }).click();
  const status = route.locator("form.try [role=status]");
  await status.getByText(/^\d{3}, /).waitFor();
  const head = (await status.locator("p").first().textContent()) ?? "";
  const text = (await status.locator("pre").count()) > 0 ? await status.locator("pre").textContent() : "null";
  return { status: Number(head.slice(0, 3)), body: JSON.parse(text ?? "null") };
}

async function signInAt(page: Page, baseUrl: string): Promise<void> {
  await page.goto(`${baseUrl}/docs/api`);
  await page.getByRole("button", { name: "Sign in instead" }).click();
  await page.getByText(/^You are signed in for \d+ minutes\.$/).waitFor();
}

/** Goes from the page that says who is signed in to the passkeys, adds one, and looks at the sign-ins. */
async function addPasskey(page: Page, baseUrl: string): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const verified = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true } as const;
  const options = { protocol: "ctap2", transport: "internal", automaticPresenceSimulation: true, ...verified } as const;
  await cdp.send("WebAuthn.addVirtualAuthenticator", { options });
  await page.goto(`${baseUrl}/oauth`);
  await page.getByRole("link", { name: "Passkeys" }).click();
  await page.getByLabel("Name of the passkey").fill("Phone");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  await page.goto(`${baseUrl}/oauth`);
  await page.getByRole("link", { name: "Your sign-ins" }).click();
  await page.getByText("This is the browser that you are using.").waitFor();
}

/** Runs an example of GraphiQL as the person who is signed in, and returns what it shows. */
async function runExample(page: Page, name: string): Promise<string> {
  const tab = page.locator(".graphiql-tab", { hasText: new RegExp(`^${name}`) });
  await tab.getByRole("button").first().click();
  await page.locator(".graphiql-execute-button").click();
  const result = page.locator(".result-window", { hasText: '"data"' });
  await result.waitFor();
  return (await result.textContent()) ?? "";
}

test("a stranger with a browser is in by the printed link, invites a colleague, makes a key and ends a session", async () => {
  const dataDirectory = await newDataDirectory();
  // Browsers allow passkeys at a name.
  const port = String((await freePorts(["http"])).get("http"));
  const baseUrl = `http://localhost:${port}`;
  const properties = { "mail.url": mailbox.url, "http.port": port, "http.base-url": baseUrl };
  const process = runEmbedded(dataDirectory, properties, ["--link"]);
  try {
    const [link = ""] = await process.waitForOutput(/^http\S+\/oauth\/first-link\/sbx_link_\S+$/m, 180_000);
    assert.equal(new URL(link).origin, baseUrl);
    assert.ok(
      process.stdout.includes(`Base URL     ${baseUrl}\n`),
      "the address that signs people in is the printed one",
    );
    const [ada, eve] = ["ada", "eve"].map((name) => `${name}-${crypto.randomUUID()}@example.org`) as [string, string];

    const own = await (await browser.newContext()).newPage();
    await own.goto(link);
    await own.getByLabel("Name").fill("Ada");
    await own.getByLabel("E-mail address").fill(ada);
    await own.keyboard.press("Enter");
    await typeCode(own, ada, 1);
    await own.getByText("You are signed in as “Ada”").waitFor();

    await addPasskey(own, baseUrl);

    await signInAt(own, baseUrl);
    const invited = await tryRoute(own, "createInvitation", { address: eve });
    assert.equal(invited.status, 201, JSON.stringify(invited.body));

    await own.goto(`${baseUrl}/graphql`);
    await own.getByRole("button", { name: "Sign in", exact: true }).click();
    await own.getByText(/^You are signed in for \d+ minutes\.$/).waitFor();
    assert.equal(own.url(), `${baseUrl}/graphql`, "the code does not stay in the address");
    assert.match(await runExample(own, "Me"), /"displayName": "Ada"/);
    assert.match(await runExample(own, "Rename"), /"displayName": "Ada King"/);
    const token = await own.getByLabel("API key or access token").inputValue();
    const kept = await own.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
    assert.ok(token.length > 100 && !String(kept).includes(token), "the token is nowhere but in the page");

    const theirs = await (await browser.newContext()).newPage();
    const [, mailed = ""] = /(https?:\/\/\S+\/oauth\/invitations\/\S+)/.exec((await mailbox.mailTo(eve)).text) ?? [];
    await theirs.goto(mailed);
    await theirs.getByText("Ada").first().waitFor();
    await theirs.locator("button.main").click();
    await theirs.getByLabel("E-mail address").waitFor();
    assert.equal(await theirs.getByLabel("E-mail address").inputValue(), eve);
    await theirs.keyboard.press("Enter");
    await typeCode(theirs, eve, 2);
    await theirs.getByRole("heading", { name: "The invitation is accepted" }).waitFor();
    await signInAt(theirs, baseUrl);

    const made = await tryRoute(theirs, "createApiKey", { name: "mine", scopes: ["account:read"] });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const withKey = (key: string) => fetch(`${baseUrl}/api/account/credential/`, { headers: { "x-api-key": key } });
    const { name, account_id } = (await (await withKey(made.body.key)).json()) as Record<string, string>;
    assert.equal(name, "mine");
    assert.notEqual(account_id, invited.body.invited_by);

    assert.equal((await tryRoute(theirs, "signOutEverywhere")).status, 204);
    await theirs.goto(`${baseUrl}/oauth`);
    await theirs.getByText("Nobody is signed in").waitFor();
    assert.equal((await withKey(made.body.key)).status, 200, "a key outlives the session");
  } finally {
    await process.kill();
    await removeData({ dataDirectory });
  }
});
