import assert from "node:assert/strict";
import { test } from "node:test";
import { commandsOf, missingIn } from "./read-page.ts";

const page = (...lines: readonly string[]) => lines.join("\n").replaceAll("~~~", "```");

test("the commands of a page come in order, with the output shown right after them", () => {
  const markdown = page("Do", "~~~sh", "one", "two", "~~~", "", "~~~text", "2", "~~~", "then", "~~~sh", "three", "~~~");
  const [first, second, ...rest] = commandsOf("a.md", markdown);
  assert.deepEqual(first, { place: "a.md:3", script: "one\ntwo", shown: "2", notRun: null, byHand: null });
  assert.deepEqual([second?.script, second?.shown, second?.place], ["three", null, "a.md:12"]);
  assert.deepEqual(rest, []);
});

test("code or output that belongs to no command is not taken for a command", () => {
  const markdown = page(
    "~~~sh",
    "one",
    "~~~",
    "A wrong one says:",
    "~~~text",
    "no",
    "~~~",
    "~~~ts",
    "const a = 1",
    "~~~",
  );
  assert.deepEqual(
    commandsOf("a.md", markdown).map(({ script, shown }) => [script, shown]),
    [["one", null]],
  );
});

test("a comment right before a block says why it is not run, or what is done by hand before", () => {
  const markdown = page(
    "<!-- not run: it is yours -->",
    "~~~sh",
    "one",
    "~~~",
    "<!-- by hand: touch a -->",
    "~~~sh",
    "two",
    "~~~",
  );
  assert.deepEqual(
    commandsOf("a.md", markdown).map(({ notRun, byHand }) => [notRun, byHand]),
    [
      ["it is yours", null],
      [null, "touch a"],
    ],
  );
});

test("a block that does not say what it is fails with its place, rather than never to be run", () => {
  assert.throws(() => commandsOf("a.md", page("~~~", "curl", "~~~")), /a\.md:2: a fence says what it is/);
});

test("shown output matches whatever ids, times or left-out parts are", () => {
  const shown = '{"id":"key_5JFkZzz5fphfxAEJlAYMMO","at":"2026-11-21T15:28:43.449Z",…,"n":(1)}\n204';
  const printed = '{"id":"key_1hX1JhNl0sgWq4U5G310x5","at":"2027-01-01T00:00:00.000Z","more":[],"n":(1)}\n\n204\n';
  assert.equal(missingIn(printed, shown), null);
  assert.match(missingIn(printed.replace("key_", "cli_"), shown) ?? "", /^\{"id":"key_/);
  assert.equal(missingIn(printed.replace("204", "404"), shown), "204");
  assert.equal(missingIn(`204 ${printed.replace("204", "")}`, shown), "204", "the order counts");
});
