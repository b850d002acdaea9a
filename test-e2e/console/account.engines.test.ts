import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { accessibilityProblems, eventually, pressByKeyboard, reachByKeyboard } from "@signalbox/testing";
import { watchPage } from "./console-pages.ts";
import { type ConsolePerson, type Page, startConsolePerson } from "./console-person.ts";
import { examineStates, openPresentable } from "./look-at-pages.ts";

/** One person works through all tests, in their order: what one makes, the next looks at. */
let ada: ConsolePerson;
before(async () => {
  ada = await startConsolePerson();
});
after(() => ada.close());

const at = (path: string) => `${ada.baseUrl}/console/${path}`;
const copied = (page: Page) => page.evaluate("navigator.clipboard.readText()") as Promise<string>;

/** Reads the account with a key, and returns the status of the answer. */
async function statusWith(key: string): Promise<number> {
  const answer = await fetch(`${ada.baseUrl}/api/account`, { headers: { "X-API-Key": key } });
  await answer.arrayBuffer();
  return answer.status;
}

/** Presses a button, and the same button of the dialog that asks about it. */
async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).first().click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

test("by keyboard alone a person edits the profile, makes a key, sees it once and finds it in the audit", async () => {
  const { page } = ada;
  const problems = watchPage(page);
  await page.goto(at(""));
  await pressByKeyboard(page, page.getByRole("link", { name: "Account", exact: true }));
  await pressByKeyboard(page, page.getByLabel("Name", { exact: true }), "Ada Byron");
  await page.getByText("Unsaved changes.").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Ada Byron" }).waitFor();
  await page.getByText("Saved.").waitFor();

  await pressByKeyboard(page, page.getByRole("link", { name: "API keys" }));
  await pressByKeyboard(page, page.getByRole("button", { name: "New API key" }));
  await pressByKeyboard(page, page.getByLabel("Name", { exact: true }), "nightly import");
  await pressByKeyboard(page, page.getByRole("button", { name: "Create the API key" }));
  await page.getByText("Scopes: choose what the API key may do.").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await reachByKeyboard(page, page.getByLabel("account:read"));
  await page.keyboard.press("Space");
  await pressByKeyboard(page, page.getByRole("button", { name: "Create the API key" }));
  await pressByKeyboard(page, page.getByRole("button", { name: "Copy it" }));
  assert.deepEqual(await accessibilityProblems(page), []);
  const key = await copied(page);
  assert.equal(await statusWith(key), 200);
  await pressByKeyboard(page, page.getByRole("button", { name: "Done", exact: true }));
  assert.equal(await page.getByText(key).count(), 0);

  await pressByKeyboard(page, page.getByRole("link", { name: "Audit" }));
  await pressByKeyboard(page, page.getByLabel("Action"), "api_key.create");
  await page.keyboard.press("Enter");
  await page.waitForURL(/action=api_key\.create/);
  await page.getByRole("row", { name: /api_key\.create.*done.*the account itself/ }).waitFor();
  await pressByKeyboard(page, page.getByLabel("Action"), "image.delete");
  await page.keyboard.press("Enter");
  await page.getByText("No entry matches these filters.").waitFor();
  assert.deepEqual(problems, []);
});

test("a key is renamed, rotated with an overlap and revoked; the next one works until its own end", async () => {
  const { page } = ada;
  await page.goto(at("account/keys"));
  const row = page.getByRole("row", { name: /nightly import.*active/ });
  await row.getByRole("button", { name: "Rename nightly import" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("import <b>");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  const renamed = page.getByRole("row", { name: /import <b>.*active/ });
  await renamed.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByLabel("Overlap").selectOption("an hour");
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Copy it" }).click();
  const key = await copied(page);
  assert.equal(await statusWith(key), 200);
  await renamed.nth(1).waitFor();
  await renamed.first().getByRole("button", { name: "Revoke", exact: true }).click();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByRole("row", { name: /import <b>.*revoked/ }).waitFor();
  await eventually(async () => (await statusWith(key)) === 401);
});

test("a service client is made, its secret rotated and the old one ended", async () => {
  const { page } = ada;
  await page.goto(at("account/clients"));
  await page.getByText("There is no service client yet.").waitFor();
  await page.getByRole("button", { name: "New service client" }).click();
  await page.getByLabel("Name", { exact: true }).fill("sync");
  await page.getByLabel("images:read").check();
  await page.getByRole("button", { name: "Create the service client" }).click();
  await page.getByText(/^sbx_client_/).waitFor();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("row", { name: /sync/ }).getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByText("old secret expires").waitFor();
  await confirm(page, "Revoke the old secret");
  await page.getByText("old secret expires").waitFor({ state: "detached" });
});

test("a new contact address is in use once its code was typed", async () => {
  const { page, mailbox } = ada;
  const address = `ada-${crypto.randomUUID()}@example.org`;
  await page.goto(at("account"));
  await page.getByLabel("New address").fill(address);
  await page.getByRole("button", { name: "Send a code" }).click();
  await page.getByText("is waiting for the code that was emailed to it").waitFor();
  await page.getByLabel("Code from the email").fill("00000000");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  const { text } = await mailbox.mailTo(address, 1);
  const [, code = ""] = /^ {4}(\d{8})$/m.exec(text) ?? [];
  await page.getByLabel("Code from the email").fill(code);
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText(`${address} verified`).waitFor();
});

const device = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

test("a passkey is added on the issuer's page, and shown, renamed and removed here", async () => {
  const { page, context } = ada;
  await page.goto(at("account/sign-in"));
  await page.getByText("There is no passkey yet.").waitFor();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "Add a passkey in a new tab" }).click();
  const issuer = await opened;
  const cdp = await context.newCDPSession(issuer);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", { options: device });
  await issuer.getByLabel("Name of the passkey").fill("Phone");
  await issuer.getByRole("button", { name: "Add a passkey" }).click();
  await issuer.getByRole("listitem").getByText("Phone", { exact: true }).waitFor();
  await issuer.close();
  await page.reload();
  const passkeys = page.getByRole("table", { name: "Passkeys" });
  await passkeys.getByRole("button", { name: "Rename Phone" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Key ring");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await passkeys.getByText("Key ring", { exact: true }).waitFor();
  await confirm(page, "Remove");
  await page.getByText("There is no passkey yet.").waitFor();
});

test("the export is downloaded whole with its progress; one that breaks off is not taken for whole", async () => {
  const { page } = ada;
  await page.goto(at("account/data"));
  await page.route(
    "**/api/account/export",
    (route) => route.fulfill({ status: 200, contentType: "application/json", body: '{"account":{' }),
    { times: 1 },
  );
  await page.getByRole("button", { name: "Download all data" }).click();
  await page.getByText("The download ended before the document was complete.").waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download all data" }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "signalbox-account.json");
  const { account, api_keys, complete } = JSON.parse(await readFile(await download.path(), "utf8"));
  assert.deepEqual([account.display_name, complete], ["Ada Byron", true]);
  assert.equal(api_keys.filter(({ name }: { name: string }) => name === "import <b>").length, 2);
  await page.getByText(/^Download complete: .*\.$/).waitFor();
});

test("an application of a server gets a secret; its edit shows both versions when somebody else saved meanwhile", async () => {
  const { page, context } = ada;
  await page.goto(at("account/applications"));
  await page.getByRole("button", { name: "New application" }).click();
  await page.getByLabel("Type").selectOption("server");
  await page.getByLabel("Name", { exact: true }).fill("Harbour log");
  await page.getByLabel("Redirect URIs").fill("no address");
  await page.getByRole("button", { name: "Create the application" }).click();
  await page.getByText("redirect_uris").first().waitFor();
  await page.getByLabel("Redirect URIs").fill("https://harbour.example/callback");
  await page.getByLabel("images:read").check();
  await page.getByRole("button", { name: "Create the application" }).click();
  await page.getByText(/^sbx_app_/).waitFor();
  await page.getByRole("link", { name: "Harbour log" }).click();
  await page.getByRole("heading", { name: "Harbour log", level: 1 }).waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await page.getByLabel("Name", { exact: true }).fill("mine");
  await other.getByLabel("Name", { exact: true }).fill("theirs");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByRole("heading", { name: "theirs", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("alertdialog", { name: "has changed in the meantime" });
  await conflict.getByRole("row", { name: "name mine theirs" }).waitFor();
  await conflict.getByRole("button", { name: "Use the saved version" }).click();
  await page.getByText("Unsaved changes.").waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "theirs");
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await confirm(page, "Revoke the old secrets");
  await page.getByRole("button", { name: "Revoke the old secrets" }).waitFor({ state: "detached" });
  await other.close();
});

/** The second person, invited by the first. */
let grace: { readonly page: Page; readonly address: string };

test("an invited person follows the mail to an account; an invitation by a link can be revoked", async () => {
  const { page, browser, mailbox } = ada;
  const address = `grace-${crypto.randomUUID()}@example.org`;
  await page.goto(at("account/invitations"));
  await page.getByRole("button", { name: "Invite a person" }).click();
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  await page.getByText(/\/oauth\/invitations\/sbx_link_/).waitFor();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await confirm(page, "Revoke");
  await page.getByRole("row", { name: /by link.*revoked/ }).waitFor();

  await page.getByRole("button", { name: "Invite a person" }).click();
  await page.getByLabel("E-mail address").fill(address);
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  await page.getByRole("row", { name: new RegExp(`${address}.*open`) }).waitFor();
  const { text } = await mailbox.mailTo(address, 1);
  const [link = ""] = /http\S+\/oauth\/invitations\/\S+/.exec(text) ?? [];
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  grace = { page: await context.newPage(), address };
  await grace.page.goto(link);
  await grace.page.getByRole("button", { name: "Accept and sign in" }).click();
  await grace.page.getByRole("button", { name: "Send me a code" }).click();
  const { text: mail } = await mailbox.mailTo(address, 2);
  const [, code = ""] = /^ {4}(\d{8})$/m.exec(mail) ?? [];
  await grace.page.getByLabel("Code", { exact: true }).fill(code);
  await grace.page.keyboard.press("Enter");
  await grace.page
    .getByText("The invitation is accepted")
    .or(grace.page.getByText("You are signed in as"))
    .first()
    .waitFor();
  await grace.page.goto(at(""));
  await grace.page.getByRole("link", { name: "Account", exact: true }).waitFor();
  await page.reload();
  await page.getByRole("row", { name: new RegExp(`${address}.*accepted`) }).waitFor();
  // She administers nothing, so the pages of administrators are not offered to her.
  await grace.page.getByRole("link", { name: "Account", exact: true }).click();
  await grace.page.getByRole("link", { name: "API keys" }).waitFor();
  assert.equal(await grace.page.getByRole("link", { name: "Invitations" }).count(), 0);
});

test("a member acts for another account and goes back to their own", async () => {
  const { page } = ada;
  await page.goto(at("account/team"));
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  const link = (await page.getByText(/\/oauth\/invitations\/sbx_link_/).textContent())?.trim() ?? "";
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await grace.page.goto(link);
  await grace.page.getByRole("button", { name: /^Accept as/ }).click();
  await grace.page.getByText("The invitation is accepted").waitFor();
  await grace.page.goto(at("account/team"));
  await grace.page.getByRole("button", { name: "Switch to this account" }).click();
  await grace.page.getByText("developer", { exact: true }).waitFor();
  await grace.page.goto(at("account"));
  await grace.page.getByRole("link", { name: "Team" }).waitFor();
  assert.equal(await grace.page.getByRole("link", { name: "Passkeys and sign-ins" }).count(), 0);
  await grace.page.getByText("developer", { exact: true }).click();
  await grace.page.getByRole("button", { name: "Back to your own account" }).click();
  await grace.page.goto(at("account"));
  await grace.page.getByRole("link", { name: "Passkeys and sign-ins" }).waitFor();
  await page.reload();
  await page
    .getByRole("table", { name: "Members" })
    .getByRole("row", { name: /developer/ })
    .waitFor();
});

test("pages of the account say in words that they load, are empty, refused, gone or out of reach", async () => {
  const { page } = ada;
  const nothing = { items: [], has_more: false };
  await examineStates(page, { url: at("account"), path: "/api/account/settings" });
  for (const [url, path, text] of [
    ["account/sign-in", "/api/account/sign-ins", "No browser is signed in at this deployment."],
    ["account/keys", "/api/account/api-keys", "There is no API key yet."],
    ["account/audit", "/api/account/audit", "No entries yet."],
    ["account/team", "/api/account/members", "Nobody else is a member of this account."],
    ["account/applications", "/api/v1/oauth/applications", "No applications yet"],
    ["account/invitations", "/api/v1/invitations", "Nobody was invited in the last 30 days."],
  ] as const)
    await examineStates(page, { url: at(url), path, empty: [text, nothing] });
});

test("every page of the account is accessible in all looks and fits its screen", async () => {
  const { page } = ada;
  const table = (name: string) => () => page.getByRole("table", { name }).waitFor();
  const pages = [
    {
      url: at("account"),

      shown: () => page.getByLabel("News about the product").waitFor(),
    },
    { url: at("account/sign-in"), shown: table("Sign-ins") },
    { url: at("account/team?new=yes"), shown: table("Members") },
    { url: at("account/team"), shown: table("Members") },
    { url: at("account/keys"), shown: table("API keys") },
    { url: at("account/clients?new=yes"), shown: table("Service clients") },
    { url: at("account/clients"), shown: table("Service clients") },
    { url: at("account/audit"), shown: table("Audit") },
    { url: at("account/audit?action=api_key.create"), picture: "audit", shown: table("Audit") },
    { url: at("account/data"), shown: () => page.getByText("What would be deleted").waitFor() },
    { url: at("account/applications?new=yes"), shown: table("Applications") },
    { url: at("account/applications"), shown: table("Applications") },
    { url: at("account/invitations?new=yes"), shown: table("Invitations") },
    { url: at("account/invitations"), shown: table("Invitations") },
  ] as const;
  for (const one of pages) await openPresentable(page, one);
  await page.goto(at("account/applications"));
  await page.getByRole("link", { name: "theirs" }).click();
  await page.getByRole("heading", { name: "theirs", level: 1 }).waitFor();
  await openPresentable(page, { url: page.url(), shown: table("Secrets") });
  await page.setViewportSize({ width: 1280, height: 800 });
  await confirm(page, "Delete");
  await page.getByText("No applications yet").waitFor();
});

test("ending a sign-in of another browser signs that browser out", async () => {
  const { page, baseUrl, browser, mailbox } = ada;
  await page.goto(at("account"));
  const shown = await page.getByRole("region", { name: "Contact address" }).getByText("@example.org").textContent();
  const [address = ""] = String(shown).split(" ");
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${baseUrl}/console/`);
  await other.getByRole("button", { name: "Sign in", exact: true }).click();
  const mails = mailbox.mails.filter(({ to }) => to === address).length;
  await other.getByLabel("E-mail address").fill(address);
  await other.keyboard.press("Enter");
  const { text } = await mailbox.mailTo(address, mails + 1);
  const [, code = ""] = /^ {4}(\d{8})$/m.exec(text) ?? [];
  await other.getByLabel("Code", { exact: true }).fill(code);
  await other.keyboard.press("Enter");
  await other.getByRole("link", { name: "Account", exact: true }).waitFor();
  await page.goto(at("account/sign-in"));
  const rows = page.getByRole("table", { name: "Sign-ins" }).getByRole("row");
  await rows.filter({ hasText: "current" }).waitFor();
  const theirs = rows.filter({ hasNotText: "current" }).nth(1);
  await theirs.getByRole("button", { name: "End" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "End" }).click();
  await theirs.waitFor({ state: "detached" });
  await other.reload();
  await other.getByRole("button", { name: "Sign in", exact: true }).waitFor();
});

test("the last administrator cannot go; others can disable, reclaim or delete their account", async () => {
  const { page } = ada;
  await page.goto(at("account/data"));
  await page.getByText("What would be deleted").waitFor();
  await page.getByRole("button", { name: "Disable …" }).click();
  await page.getByRole("button", { name: "Disable the account" }).click();
  await page.getByRole("alertdialog").getByText("status:").waitFor();

  const { page: hers } = grace;
  await hers.goto(at("account/data"));
  await hers.getByRole("button", { name: "Disable …" }).click();
  await hers.getByLabel("Reason").fill("A pause.");
  assert.deepEqual(await accessibilityProblems(hers), []);
  await hers.getByRole("button", { name: "Disable the account" }).click();
  await hers.getByRole("alertdialog").waitFor({ state: "detached" });
  await hers.goto(at("account"));
  await hers.getByText("A pause.").waitFor();
  await hers.getByRole("button", { name: "Request reactivation" }).click();
  await hers.getByText("Administrators can see your request now.").waitFor();
  assert.deepEqual(await accessibilityProblems(hers), []);

  await hers.getByRole("link", { name: "Export and deletion" }).click();
  await hers.getByRole("button", { name: "Delete …" }).click();
  const typed = hers.getByLabel(/^Type .* to confirm$/);
  const last = hers.getByRole("button", { name: "Delete the account" });
  await typed.fill("somebody else");
  assert.equal(await last.isDisabled(), true);
  await typed.fill(
    /^Type (.*) to confirm$/.exec(String(await hers.getByRole("alertdialog").locator("label").textContent()))?.[1] ??
      "",
  );
  await last.click();
  await hers.getByText("The account is deleted. An administrator can undo this for a time.").waitFor();
});
