import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { sql } from "@signalbox/storage";
import { eventually, pressByKeyboard } from "@signalbox/testing";
import { openStuckMessages, type StuckMessages } from "../operations/stuck-messages.ts";
import { databasesIn } from "../systems/embedded-system.ts";
import { watchPage } from "./console-pages.ts";
import { type ConsolePerson, create, makeKey, startConsolePerson } from "./console-person.ts";
import { assertPresentable, examineStates } from "./look-at-pages.ts";

/** One administrator works through all tests, in their order: what one makes, the next looks at. */
let ada: ConsolePerson;
let stuck: StuckMessages;
before(async () => {
  ada = await startConsolePerson();
  stuck = await openStuckMessages(await databasesIn(ada.dataDirectory));
});
after(async () => {
  await stuck.close();
  await ada.close();
});

const at = (path: string) => `${ada.baseUrl}/console/${path}`;

/** Returns the address in an alert, as Prometheus fills it in for a service or a consumer of it. */
function linkOfAlert(name: string, service: string): string {
  const { console: page = "" } = alerts.find((alert) => alert.name === name) ?? {};
  return at(`operations${page.replace(/\{\{.*\}\}/, service)}`);
}

test("operations show what waits, is behind or runs, accessible in every look and width", async () => {
  const { page } = ada;
  await page.goto(at("operations"));
  await page.getByRole("table", { name: "Instances" }).getByText("image-worker").first().waitFor();
  await page.getByRole("row", { name: /webhook-delivery\.fan-out/ }).waitFor();
  await page.getByText("No backup folder is monitored.").waitFor();
  const waiting = page.getByRole("table", { name: "Needs attention" });
  await eventually(async () => (await waiting.getByText("none").count()) === 3);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await assertPresentable(page, "operations", "operations");
  await page.getByText(/^All \d+ workers$/).click();
  await assertPresentable(page, "all workers");
  for (const path of ["dead-letters", "dead-events", "parked"]) {
    await page.goto(at(`operations/${path}`));
    await page.getByText(/^No consumer has given up|^The log has not refused any|^No key is parked/).waitFor();
    await assertPresentable(page, `empty ${path}`);
  }
});

test("by keyboard alone an engineer reaches a dead letter in two steps from the link of an alert, then replays it", async () => {
  const { page } = ada;
  const problems = watchPage(page);
  const { message, id } = await stuck.buryLetter();
  await page.goto(linkOfAlert("DeadLetters", "images"));
  assert.match(page.url(), /dead-letters\?service=images$/);
  await pressByKeyboard(page, page.getByRole("link", { name: "account.deleted.v1" }).first());
  await page.getByRole("button", { name: `Copy ${id}`, exact: true }).waitFor();
  await page.getByRole("region", { name: "content of the message" }).getByText(message.key).waitFor();
  assert.equal(await page.getByText("abcdefgh").count(), 0, "what people wrote stays masked");
  await assertPresentable(page, "a dead letter");

  await pressByKeyboard(page, page.getByRole("button", { name: "Replay" }));
  await pressByKeyboard(page, page.getByRole("button", { name: "Preview" }));
  await page.getByText(/^Effect: /).waitFor();
  await assertPresentable(page, "a replay that is asked first");
  await pressByKeyboard(page, page.getByRole("button", { name: "Replay it" }));
  await page.getByText("The message was put back for images.facts, behind later messages of its key.").waitFor();
  await page.goto(at("operations/dead-letters?service=images"));
  await page.getByText(/ matches these filters\.$/).waitFor();
  assert.deepEqual(problems, []);
});

test("a dead letter is dropped with a reason, after it was asked what that does", async () => {
  const { page } = ada;
  const { id } = await stuck.buryLetter("images.gone");
  await page.goto(at(`operations/dead-letters/${encodeURIComponent(id)}`));
  await page.getByRole("button", { name: "Drop" }).click();
  await page.getByLabel("Reason").fill("Its image is gone.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText(/^Effect: /).waitFor();
  await page.getByRole("button", { name: "Drop it" }).click();
  await page.getByText("The message was removed for good.").waitFor();
  await page.reload();
  await page.getByText("Not found: dead letter").waitFor();
  await assertPresentable(page, "a dead letter that is gone");
});

const tryAgain = sql("", "update signalbox.parked set attempt = attempt + 1 where key = $1 and next_at < 'infinity'");

test("a parked key that changes under the hand shows both versions before it is skipped", async () => {
  const { page } = ada;
  const { key } = await stuck.parkTwo();
  await page.goto(at("operations/parked"));
  await page.getByText(key).first().waitFor();
  await assertPresentable(page, "parked keys");
  await page.getByRole("button", { name: "Skip" }).click();
  await stuck.images.query(tryAgain, [key]);
  await page.getByLabel("Reason").fill("Nobody can handle it.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("It has changed in the meantime. Nothing was done.").waitFor();
  await page.getByRole("row", { name: "attempts 1 2" }).waitFor();
  await assertPresentable(page, "both versions of a parked key");
  await page.getByRole("button", { name: "Continue with the current one" }).click();
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Skip it" }).click();
  await page.getByText("No key is parked.").waitFor();
});

test("by keyboard alone an engineer sees from the link of an alert what blocks a key, then tries it now", async () => {
  const { page } = ada;
  const problems = watchPage(page);
  const { id, eventIds } = await stuck.parkTwo();
  await page.goto(linkOfAlert("MessagesParked", "images"));
  await pressByKeyboard(page, page.getByRole("link", { name: "account.deleted.v1" }).first());
  await page.getByText("Error: not yet").waitFor();
  await page.getByRole("region", { name: "content of the message" }).getByText("deleted_at").waitFor();
  const queue = page.getByRole("table", { name: "Queue" });
  await queue.getByRole("row", { name: new RegExp(`blocks the key .*${eventIds[0]}.* 1 `) }).waitFor();
  await queue.getByRole("row", { name: new RegExp(`waits .*${eventIds[1]}.* 0 `) }).waitFor();
  await assertPresentable(page, "a parked key");

  await pressByKeyboard(page, page.getByRole("button", { name: "Try now" }));
  await pressByKeyboard(page, page.getByRole("button", { name: "Preview" }));
  await page.getByText(/^Effect: The message would be made due now/).waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Try it now" }));
  await page.getByText("The message was made due now: images.facts tries it within a second.").waitFor();
  await page.goto(at("operations/parked"));
  await page.getByText("No key is parked.").waitFor();
  await page.goto(at(`operations/parked/${encodeURIComponent(id)}`));
  await page.getByText("Not found: parked key").waitFor();
  assert.deepEqual(
    problems.filter((problem) => !problem.includes("404")),
    [],
  );
});

test("a parked key says when it loads, is refused, gone or out of reach", async () => {
  const { page } = ada;
  const { id } = await stuck.parkTwo();
  const path = `operations/parked/${encodeURIComponent(id)}`;
  await examineStates(page, { url: at(path), path: `/api/v1/${path}` });
  await page.goto(at(path));
  await page.getByRole("button", { name: "Skip" }).click();
  await page.getByLabel("Reason").fill("Its account is gone.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText(/moved to the dead letters; 1 behind it go on\.$/).waitFor();
  await page.getByRole("button", { name: "Skip it" }).click();
  await page.getByText("The message was moved to the dead letters; 1 behind it go on.").waitFor();
});

test("an event that the log refused is seen with its content before it is put back", async () => {
  const { page } = ada;
  const { message } = await stuck.refuseEvent();
  await page.goto(linkOfAlert("EventsRefused", "images"));
  await page.getByRole("link", { name: "account.deleted.v1" }).click();
  await page.getByRole("region", { name: "content of the message" }).getByText(message.key).waitFor();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Replay it" }).click();
  await page.getByRole("alertdialog").waitFor({ state: "hidden" });
  await page.goto(at("operations/dead-events"));
  await page.getByText("The log has not refused any event.").waitFor();
});

test("by keyboard alone an operator changes the state of an account with a preview and a reason, then undoes it", async () => {
  const { page } = ada;
  const name = "Customer <b>bold</b>";
  const key = { name: "first", scopes: ["images:read"] };
  await create(ada, "accounts", { display_name: name, key });
  await page.goto(at("accounts"));
  await pressByKeyboard(page, page.getByLabel("Name, address or id"), "Customer");
  await page.keyboard.press("Enter");
  await page.waitForURL(/search=Customer/);
  await assertPresentable(page, "accounts");
  await pressByKeyboard(page, page.getByRole("link", { name }));
  await pressByKeyboard(page, page.getByRole("button", { name: "Make it suspended" }));
  await page.getByText("active → suspended.").waitFor();
  await page.getByText("It applies in every service within two seconds.").waitFor();
  await pressByKeyboard(page, page.getByLabel("Reason"), "Payment failed three times.");
  await assertPresentable(page, "an account");
  await pressByKeyboard(page, page.getByRole("button", { name: "Change it to suspended" }));
  await page.getByText("It is suspended now. Before, it was active.").waitFor();
  await page.getByRole("table", { name: "Audit" }).getByText("account.suspend").waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Undo" }));
  await page.getByText("Undone: Payment failed three times.").first().waitFor();
  await page.getByRole("button", { name: "Make it suspended" }).waitFor();
});

test("by keyboard alone an operator sets a property after trying it, then undoes it", async () => {
  const { page } = ada;
  await page.goto(at("properties"));
  await pressByKeyboard(page, page.getByLabel("Name or effect"), "limits.maxPageSize");
  await page.keyboard.press("Enter");
  await page.waitForURL(/text=limits/);
  await assertPresentable(page, "properties");
  await pressByKeyboard(page, page.getByRole("link", { name: "limits.maxPageSize", exact: true }));
  await page.getByRole("row", { name: /gateway.*defaults.*no$/ }).waitFor();
  await pressByKeyboard(page, page.getByRole("textbox", { name: "Value" }), "5");
  await pressByKeyboard(page, page.getByLabel("Reason"), "Too slow.");
  await pressByKeyboard(page, page.getByRole("button", { name: "Preview" }));
  await page.getByText("defaults.pageSize must be at most limits.maxPageSize, which is 5.").waitFor();
  await pressByKeyboard(page, page.getByRole("textbox", { name: "Value" }), "50");
  await pressByKeyboard(page, page.getByRole("button", { name: "Preview" }));
  await page.getByText(/^Allowed\. The value would change from 100 \(defaults\) to 50 and apply at once\.$/).waitFor();
  await assertPresentable(page, "a property", "property");
  await pressByKeyboard(page, page.getByRole("button", { name: "Set it" }));
  await page.getByText(/: (\d+) of \1 instances run with it\.$/).waitFor();
  await page.getByRole("table", { name: "History" }).getByText("Too slow.").first().waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Undo" }));
  await page.getByRole("table", { name: "History" }).getByText("Undone: Too slow.").first().waitFor();
  await page.getByRole("row", { name: /gateway.*100.*defaults.*no$/ }).waitFor();
});

test("nobody's change is lost unseen when two operators set one property", async () => {
  const { page, context } = ada;
  const other = await context.newPage();
  for (const one of [page, other]) {
    await one.goto(at("properties/limits.maxPageSize"));
    await one.getByLabel("Reason").fill("Both at once.");
  }
  await page.getByRole("textbox", { name: "Value" }).fill("60");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Set it" }).waitFor();
  await other.getByRole("textbox", { name: "Value" }).fill("70");
  await other.getByRole("button", { name: "Preview" }).click();
  await other.getByRole("button", { name: "Set it" }).click();
  await other.getByText(/instances run with it\.$/).waitFor();
  await page.getByRole("button", { name: "Set it" }).click();
  const conflict = page.getByRole("alertdialog", { name: "has changed in the meantime" });
  await conflict.getByRole("row", { name: /limits\.maxPageSize 60 70/ }).waitFor();
  await assertPresentable(page, "both values of a property");
  await conflict.getByRole("button", { name: "Overwrite with mine" }).click();
  await page.getByText(/instances run with it\.$/).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("row", { name: /gateway.*70.*overrides.*no$/ }).waitFor();
  await other.close();

  await page.getByLabel("Action", { exact: true }).selectOption("unset");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Remove the override" }).click();
  await page.getByRole("row", { name: /gateway.*100.*defaults.*no$/ }).waitFor();
});

test("a flag is added by its form after it was tried, then switched off and on again by undo", async () => {
  const { page } = ada;
  await page.goto(at("flags"));
  await page.getByText("There is no flag yet.").waitFor();
  await assertPresentable(page, "no flags");
  await page.getByRole("link", { name: "Add a flag" }).click();
  await page.getByLabel("Key", { exact: true }).fill("checkout.new");
  await page.getByLabel("Owner", { exact: true }).fill("payments");
  await page.getByLabel("Name of variant 1").fill("one");
  await page.getByLabel("Reason", { exact: true }).fill("A tenth first.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("The request was refused").waitFor();
  await page.getByLabel("Name of variant 1").fill("on");
  await page.getByLabel("Share of rule 1 in %").fill("ten");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("Rule 1, share: “ten” is not a number.").waitFor();
  await page.getByLabel("Share of rule 1 in %").fill("10");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("Allowed.").waitFor();
  await page.getByText("Targeting").click();
  await page.getByText("Schedule and prerequisites").click();
  await assertPresentable(page, "a new flag");
  await page.getByRole("button", { name: "Add it" }).click();
  await page.getByText("on to 10 %, off to the rest").waitFor();

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByLabel("Reason", { exact: true }).fill("It breaks.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Set it" }).click();
  await page.getByText("off to everybody").waitFor();
  await assertPresentable(page, "a flag");

  const other = await ada.context.newPage();
  await other.goto(page.url());
  await other.getByRole("combobox", { name: "State" }).selectOption("enabled");
  await other.getByLabel("Reason", { exact: true }).fill("It is mended.");
  await other.getByRole("button", { name: "Preview" }).click();
  await other.getByRole("button", { name: "Set it" }).click();
  await other.getByText("on to 10 %, off to the rest").waitFor();
  await page.getByLabel("Reason", { exact: true }).fill("It breaks again.");
  await page.getByRole("button", { name: "Preview" }).click();
  const conflict = page.getByRole("alertdialog", { name: "has changed in the meantime" });
  await conflict.getByRole("row", { name: 'state "disabled" "enabled"' }).waitFor();
  await assertPresentable(page, "both versions of a flag");
  await conflict.getByRole("button", { name: "Overwrite with mine" }).click();
  await page.getByText("off to everybody").waitFor();
  await other.close();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("on to 10 %, off to the rest").waitFor();
  await page.goto(at("flags?state=enabled"));
  await page.getByRole("link", { name: "checkout.new" }).waitFor();
  await assertPresentable(page, "flags");
});

test("by keyboard alone an operator reads who changed a flag, then restores a former version after a preview", async () => {
  const { page } = ada;
  await page.goto(at("flags/checkout.new"));
  const broken = page
    .getByRole("table", { name: "History" })
    .getByRole("row", { name: /state: "enabled" → "disabled" It breaks\. acc_/ });
  await pressByKeyboard(page, broken.getByRole("button", { name: /^Restore revision \d+$/ }));
  assert.match(await page.getByLabel("Reason", { exact: true }).inputValue(), /^Back to revision \d+\.$/);
  await pressByKeyboard(page, page.getByRole("button", { name: "Preview" }));
  await page.getByRole("table", { name: "Changes" }).getByRole("row", { name: 'state "enabled" "disabled"' }).waitFor();
  await assertPresentable(page, "a former version that is tried first");
  await pressByKeyboard(page, page.getByRole("button", { name: "Set it" }));
  await page.getByText("off to everybody").waitFor();
  await page.getByRole("row", { name: /Back to revision .* current/ }).waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Undo" }));
  await page.getByText("on to 10 %, off to the rest").waitFor();
});

test("a flag is typed as JSON too; what is no flag stays where it was typed", async () => {
  const { page } = ada;
  await examineStates(page, { url: at("flags/checkout.new"), path: "/graphql" });
  await page.goto(at("flags/checkout.new"));
  await page.getByRole("button", { name: "JSON" }).click();
  const definition = page.getByLabel("Definition");
  const text = await definition.inputValue();
  for (const [wrong, reason] of [
    ["{", "Definition: this is not JSON."],
    ["{}", "Definition: invalid flag."],
  ] as const) {
    await definition.fill(wrong);
    await page.getByRole("button", { name: "Form", exact: true }).click();
    await page.getByText(reason).waitFor();
    assert.equal(await definition.inputValue(), wrong);
  }
  await definition.fill(text.replace('"percentage": 10', '"percentage": 25'));
  await assertPresentable(page, "a flag as JSON");
  await page.getByRole("button", { name: "Form", exact: true }).click();
  assert.equal(await page.getByLabel("Share of rule 1 in %").inputValue(), "25");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByLabel("Share of rule 2 in %").fill("50");
  await page.getByRole("button", { name: "Move up rule 2" }).click();
  await page.getByLabel("Reason", { exact: true }).fill("A quarter.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("row", { name: /^rules .*"percentage":10.* .*"percentage":50.*"percentage":25/ }).waitFor();
});

test("an archived flag keeps its history, from which it is added again", async () => {
  const { page } = ada;
  const archive = async () => {
    await page.getByText("Archive it", { exact: true }).click();
    await page.getByLabel("Reason for archiving").fill("Nothing evaluates it.");
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await page.getByText("There is no flag yet.").waitFor();
  };
  await page.goto(at("flags/checkout.new"));
  await archive();
  await page.goto(at("flags/checkout.new"));
  await page.getByText("There is no flag with this key now.").waitFor();
  await page.getByRole("row", { name: /archived Nothing evaluates it\./ }).waitFor();
  await assertPresentable(page, "the history of an archived flag");
  await page
    .getByRole("row", { name: /added A tenth first\./ })
    .getByRole("button")
    .last()
    .click();
  await page.getByLabel("Reason", { exact: true }).fill("It is needed again.");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Add it" }).click();
  await page.getByText("on to 10 %, off to the rest").waitFor();
  await page.getByRole("row", { name: /added again It is needed again\..* current/ }).waitFor();
  await archive();
});

test("what is gone is said in words; what a key may not see is not shown", async () => {
  const { page, browser } = ada;
  for (const [path, text] of [
    ["operations/dead-events/images:none", "Not found: dead event"],
    ["accounts/acc_none", "Not found: account"],
    ["properties/none.such", "There is no property of this name"],
    ["flags/none", "There is and was no flag with this key."],
  ] as const) {
    await page.goto(at(path));
    await page.getByText(text).waitFor();
    await assertPresentable(page, path);
  }
  const reader = await (await browser.newContext()).newPage();
  await reader.goto(at("properties/limits.maxPageSize"));
  await reader.getByLabel("Or an API key").fill(await makeKey(ada, ["config:read", "account:read"]));
  await reader.getByRole("button", { name: "Use the key" }).click();
  await reader.getByRole("table", { name: "Instances" }).waitFor();
  assert.equal(await reader.getByRole("button", { name: "Preview" }).count(), 0);
  for (const name of ["Operations", "Accounts", "Flags"])
    assert.equal(await reader.getByRole("link", { name, exact: true }).count(), 0, name);
});
