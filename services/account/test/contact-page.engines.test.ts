import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser } from "@signalbox/testing";
import { appearanceProblems } from "./appearance.ts";
import { codeIn, contactsOf, freshAddress, linkIn } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startAccount();
  contacts = contactsOf(account);
});
after(() => account.close());

test("in a browser without scripts the button works under the page's own policy, and every page is accessible", async (t) => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(old);
  await contacts.change(headers, wanted);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const scriptless = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  const looking = await browser.newPage();
  const mail = await account.mailbox.mailTo(wanted);
  await looking.goto(account.url + linkIn(mail));
  assert.equal(await looking.getByRole("heading").textContent(), "Enter the code to confirm this address");
  assert.deepEqual(await appearanceProblems(looking), []);
  assert.equal((await contacts.confirm(headers, codeIn(mail))).status, 200);

  const link = account.url + linkIn(await account.mailbox.mailTo(old, 2));
  await looking.goto(link);
  assert.deepEqual(await appearanceProblems(looking), []);
  await scriptless.goto(link);
  assert.equal(await scriptless.getByRole("heading").textContent(), "Keep the previous contact address");
  const weight = await scriptless.evaluate("getComputedStyle(document.querySelector('button')).fontWeight");
  assert.equal(weight, "600", "the policy lets the page's own style in");
  await scriptless.getByRole("button", { name: "Object to the change" }).click();
  assert.equal(await scriptless.getByRole("heading").textContent(), "This address is in use");
  assert.equal((await contacts.read(headers)).contact_address, old);

  await looking.goto(link);
  assert.equal(await looking.getByRole("heading").textContent(), "This link is no longer valid");
  assert.deepEqual(await appearanceProblems(looking), []);
});
