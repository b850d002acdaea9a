import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventually, openBrowser } from "@signalbox/testing";
import { createFirstLink } from "../src/first-link.ts";
import { appearanceProblems } from "./appearance.ts";
import { serve, startBehindEdge } from "./behind-edge.ts";
import type { Harness } from "./harness.ts";
import { codeTo } from "./oauth-visitor.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>["newPage"]>>;
type Cdp = Awaited<ReturnType<ReturnType<Page["context"]>["newCDPSession"]>>;

const device = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** A browser of a phone with a device that holds passkeys, and that offers them beside addresses or does not. */
async function openWithDevice(t: TestContext, { offers = false } = {}) {
  const browser = await openBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 360, height: 720 } });
  // The device takes every offer at once, and no test would come to its button.
  if (!offers) await context.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const cdp = await context.newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options: device });
  return { page, context, cdp, authenticatorId, complaints };
}

/** Such a browser at a deployment whose person has signed in by a mailed code, and is offered a passkey. */
async function arrangeOffer(t: TestContext, options?: Parameters<typeof openWithDevice>[1]) {
  const { edge, account } = await startBehindEdge(t, "localhost");
  const opened = await openWithDevice(t, options);
  const { page } = opened;
  const address = `${crypto.randomUUID()}@example.org`;
  await page.goto(`${edge}/oauth`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await signInByCode(page, account, address);
  await heading(page, "Add a passkey");
  return { edge, account, address, ...opened };
}

/** Such a person, who has declined the offer. */
async function arrange(t: TestContext, options?: Parameters<typeof openWithDevice>[1]) {
  const scene = await arrangeOffer(t, options);
  await scene.page.getByRole("button", { name: "Not now" }).click();
  await heading(scene.page, "Your sign-in");
  return scene;
}

async function signInByCode(page: Page, account: Harness, address: string, count = 1): Promise<void> {
  await page.getByLabel("E-mail address").fill(address);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Code", { exact: true }).fill(await codeTo(account, address, count));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

async function addPasskey(page: Page, edge: string, name: string): Promise<void> {
  await page.goto(`${edge}/oauth/passkeys`);
  await page.getByLabel("Name of the passkey").fill(name);
  await page.getByRole("button", { name: "Add a passkey" }).click();
}

/** Opens the sign-in page without a session. */
async function openSignIn({ page, edge }: { page: Page; edge: string }): Promise<void> {
  await page.context().clearCookies({ name: /session/ });
  await page.goto(`${edge}/oauth`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await heading(page, "Sign in");
}

const usePasskey = (page: Page) => page.getByRole("button", { name: "Sign in with a passkey" }).click();
const refused = (page: Page) => page.getByText("This passkey was not accepted").waitFor();

const subjects = ({ mailbox }: Harness, address: string) =>
  mailbox.mails.flatMap(({ to, subject }) => (to === address ? [subject] : []));

async function credentialsOf(cdp: Cdp, authenticatorId: string) {
  return (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
}

test("a person adds a passkey, is told of it, and signs in with it alone; a code still works and is told too", async (t) => {
  const scene = await arrange(t);
  const { edge, account, page, cdp, authenticatorId, address, complaints } = scene;
  await page.getByRole("link", { name: "Passkeys" }).click();
  await heading(page, "Passkeys");
  assert.deepEqual(await appearanceProblems(page), []);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, "nothing is cut off");
  await page.getByLabel("Name of the passkey").fill("Phone <b>");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("listitem").getByText("Phone <b>", { exact: true }).waitFor();
  const [credential] = await credentialsOf(cdp, authenticatorId);
  assert.equal(credential?.isResidentCredential, true, "it is found without an address");
  await eventually(() => subjects(account, address).includes("A new passkey for your account"));

  await openSignIn(scene);
  assert.deepEqual(await appearanceProblems(page), []);
  await usePasskey(page);
  await heading(page, "Your sign-in");
  await page.getByText("You are signed in to Signalbox as").waitFor();

  await openSignIn(scene);
  await signInByCode(page, account, address, 2);
  await heading(page, "Your sign-in");
  await eventually(() => subjects(account, address).includes("A sign-in with a code instead of a passkey"));
  assert.deepEqual(complaints, [], "the page's own policy lets its script work");
  await addPasskey(page, edge, "Again");
  await page.getByText("This device already has a passkey of yours").waitFor();
});

test("a person who signs in by a code on a device that holds passkeys adds the offered one", async (t) => {
  const { page, cdp, authenticatorId, complaints } = await arrangeOffer(t);
  assert.deepEqual(await appearanceProblems(page), []);
  await page.getByRole("button", { name: "Add a passkey and sign in" }).click();
  await heading(page, "Your sign-in");
  assert.equal((await credentialsOf(cdp, authenticatorId)).length, 1);
  assert.deepEqual(complaints, [], "the page's own policy lets its script work");
});

test("a browser that offers passkeys beside addresses signs the person in without a button", async (t) => {
  const { edge, page } = await arrange(t, { offers: true });
  await addPasskey(page, edge, "Phone");
  await page.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  await page.context().clearCookies({ name: /session/ });
  await page.goto(`${edge}/oauth`);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByText("You are signed in to Signalbox as").waitFor();
});

test("the button signs a person in who has not taken the offer beside the address", async (t) => {
  const { edge, page, cdp, authenticatorId } = await arrange(t, { offers: true });
  await addPasskey(page, edge, "Phone");
  await page.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  await cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled: false });
  await openSignIn({ page, edge });
  await cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled: true });
  await usePasskey(page);
  await page.getByText("You are signed in to Signalbox as").waitFor();
});

test("a person who cancels, or whom the device does not know, adds nothing and signs in nowhere, and may try again", async (t) => {
  const scene = await arrange(t);
  const { edge, page, cdp, authenticatorId } = scene;
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await addPasskey(page, edge, "Phone");
  await page.getByRole("alert").getByText("The passkey was not added").waitFor();
  assert.deepEqual(await credentialsOf(cdp, authenticatorId), []);
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  await openSignIn(scene);
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await usePasskey(page);
  await page.getByRole("alert").getByText("The passkey was not used").waitFor();
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await usePasskey(page);
  await heading(page, "Your sign-in");
});

test("a first administrator takes a passkey instead of an address, may cancel first, and uses the link once", async (t) => {
  const { edge, account } = await startBehindEdge(t, "localhost");
  const link = await createFirstLink(account.context);
  assert.ok(link);
  assert.ok(link.startsWith(edge));
  const { page, cdp, authenticatorId, complaints } = await openWithDevice(t);
  await page.goto(link);
  await heading(page, "Sign in");
  await page.getByRole("heading", { level: 2, name: "Or with a passkey" }).waitFor();
  assert.deepEqual(await appearanceProblems(page), []);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false, "nothing is cut off");
  const add = () => page.getByRole("button", { name: "Add a passkey and sign in" }).click();
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await add();
  await page.getByRole("alert").getByText("The passkey was not added").waitFor();
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await add();
  await heading(page, "You are signed in");
  await page.getByText("From now on, sign in with this passkey.").waitFor();
  assert.equal((await credentialsOf(cdp, authenticatorId)).length, 1);
  await openSignIn({ page, edge });
  await usePasskey(page);
  await heading(page, "Your sign-in");
  await page.getByText("You are signed in to Signalbox as").waitFor();
  await page.context().clearCookies();
  await page.goto(link);
  await heading(page, "This link no longer works");
  assert.deepEqual(
    complaints.filter((text) => !text.includes("Failed to load resource")),
    [],
    "the page's own policy lets its script work",
  );
});

test("a copy of a passkey is refused by its counter, while the first one goes on", async (t) => {
  const scene = await arrange(t);
  const { edge, page, cdp, authenticatorId } = scene;
  await addPasskey(page, edge, "Phone");
  await page.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  const [copied] = await credentialsOf(cdp, authenticatorId);
  assert.ok(copied);
  for (let times = 0; times < 2; times++) {
    await openSignIn(scene);
    await usePasskey(page);
    await heading(page, "Your sign-in");
  }
  const [latest] = await credentialsOf(cdp, authenticatorId);
  assert.ok(latest && latest.signCount > copied.signCount, "the device counts");
  const become = async (credential: typeof copied) => {
    await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    await cdp.send("WebAuthn.addCredential", { authenticatorId, credential });
  };
  await become(copied);
  await openSignIn(scene);
  await usePasskey(page);
  await refused(page);
  await become(latest);
  await usePasskey(page);
  await heading(page, "Your sign-in");
});

/** Uses a passkey at the page where the browser is, for the options of a sign-in page elsewhere. */
const useHere = (page: Page, options: string): Promise<string> =>
  page.evaluate(async (json) => {
    const { PublicKeyCredential: credentials } = globalThis as unknown as {
      PublicKeyCredential: { parseRequestOptionsFromJSON(options: object): object };
    };
    const publicKey = credentials.parseRequestOptionsFromJSON(JSON.parse(json));
    const { credentials: held } = navigator as unknown as {
      credentials: { get(options: object): Promise<{ toJSON(): object }> };
    };
    return JSON.stringify((await held.get({ publicKey })).toJSON());
  }, options);

/** Posts a response from elsewhere in the form of the sign-in page. */
const post = (page: Page, response: string) =>
  page.evaluate(`{
    const form = document.querySelector("form[data-passkey]");
    form.elements.response.value = ${JSON.stringify(response)};
    HTMLFormElement.prototype.submit.call(form);
  }`);

const optionsOf = async (page: Page): Promise<string> =>
  (await page.locator("form[data-passkey]").getAttribute("data-options")) ?? "";

test("what a passkey signs for another origin, or for another sign-in, is refused", async (t) => {
  const scene = await arrange(t);
  const { edge, account, page } = scene;
  await addPasskey(page, edge, "Phone");
  await page.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  const elsewhere = (
    await serve(t, (_request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end("<!doctype html><title>Elsewhere</title>");
    })
  ).replace("127.0.0.1", "localhost");
  await openSignIn(scene);
  const signIn = page.url();
  const options = await optionsOf(page);
  await page.goto(elsewhere);
  const signedElsewhere = await useHere(page, options);
  await page.goto(signIn);
  await post(page, signedElsewhere);
  await refused(page);

  const signedHere = await useHere(page, options);
  await openSignIn(scene);
  assert.notEqual(await optionsOf(page), options, "every sign-in has a challenge of its own");
  await post(page, signedHere);
  await refused(page);
  for (const rubbish of ["", "{}", "null", JSON.stringify({ ...JSON.parse(signedHere), id: "AAAA", rawId: "AAAA" })]) {
    await post(page, rubbish);
    await refused(page);
  }
  const audit = await account.send("GET", "/api/accounts/audit/?outcome=refused", {
    headers: { "x-api-key": await account.firstKey() },
  });
  const reasons = audit.body.items.map(({ reason }: { reason: string }) => reason);
  assert.deepEqual([...new Set(reasons)], ["not_verified"]);
  // The control: the same way is good for this origin and this sign-in.
  await post(page, await useHere(page, await optionsOf(page)));
  await heading(page, "Your sign-in");
});
