import assert from "node:assert/strict";
import { test } from "node:test";
import { widthOf } from "../output.ts";
import type { LocalAttempt } from "./listener.ts";
import {
  emptyList,
  type MessageList,
  renderList,
  selectedRow,
  withAttempt,
  withKey,
  withSettled,
} from "./message-list.ts";

const attempt = (id: string, more: Partial<LocalAttempt["message"]> = {}, status = 200): LocalAttempt => ({
  message: {
    lease_id: "wha",
    delivery_id: id,
    event_id: `evt_${id}`,
    type: "order.created",
    attempt: 1,
    headers: { "webhook-id": id },
    body: '{"a":1}',
    body_encoding: "utf8",
    ...more,
  },
  atMs: 0,
  answer: { status, error: null, ms: 3, body: "" },
});

const style = (_: string, text: string) => text;
const frame = { title: "listen", secret: "", columns: 60, lines: 8, style };
const three = ["a", "b", "c"].reduce((list, id) => withAttempt(list, attempt(id)), emptyList);
const press = (list: MessageList, ...keys: readonly string[]) => keys.reduce(withKey, list);
const selected = (list: MessageList) => selectedRow(list)?.attempt.message.delivery_id;

test("the newest message stays selected until another one is", () => {
  assert.equal(selected(three), "c");
  assert.equal(selected(withAttempt(three, attempt("d"))), "d");
  const moved = press(three, "down");
  assert.deepEqual([selected(moved), selected(withAttempt(moved, attempt("d")))], ["b", "b"]);
  assert.equal(selected(press(moved, "end", "down")), "a");
  const back = press(moved, "home");
  assert.equal(selected(withAttempt(back, attempt("d"))), "d");
  assert.deepEqual(press(emptyList, "down", "up", "d", "x"), emptyList);
});

test("the newest attempt replaces the earlier one, with what follows its failure", () => {
  const failed = attempt("b", { attempt: 2 }, 500);
  const list = withSettled(withAttempt(three, failed), failed, { decision: "exhausted", nextAttemptAt: null });
  assert.equal(list.rows.length, 3);
  const [, , first, second] = renderList(list, { ...frame, columns: 80 });
  assert.match(first ?? "", /^▸ .* 200 .*order\.created {2}c/);
  assert.match(second ?? "", /500 .* b {2}attempt 2 {2}exhausted$/);
});

test("every line fits the terminal, whatever comes", () => {
  const text = "\u001b[2J日本".repeat(200);
  const hostile = attempt("h", { type: text, headers: { [text]: text }, body: JSON.stringify({ [text]: text }) });
  const list = withAttempt(three, hostile);
  for (const shown of [list, press(list, "d"), press(list, "d", "down", "end"), { ...list, notice: text }]) {
    for (const [columns, lines] of [
      [60, 8],
      [12, 5],
    ] as const) {
      const rendered = renderList(shown, { ...frame, title: text, columns, lines });
      assert.equal(rendered.length, lines);
      for (const line of rendered) {
        assert.ok(widthOf(line) <= columns, line);
        assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
      }
    }
  }
});

test("the details of one message stay open until a key leads back", () => {
  const details = press(three, "down", "d");
  const shown = renderList(details, { ...frame, lines: 20 }).join("\n");
  assert.match(shown, /event evt_b[\s\S]*webhook-id: b[\s\S]*"a": 1/);
  assert.equal(selected(withAttempt(details, attempt("d"))), "b", "the details stay those of one message");
  assert.match(renderList(press(details, "d"), frame).join("\n"), /▸ .* b/);
});

test("the list keeps the newest thousand", () => {
  const many = Array.from({ length: 1_010 }, (_, index) => attempt(`d${index}`)).reduce(withAttempt, emptyList);
  assert.deepEqual([many.rows.length, selected(many), selected(press(many, "end"))], [1_000, "d1009", "d10"]);
});

test("a signing secret is whole on 80 columns", () => {
  const secret = `Signing secret whsec_${"x".repeat(44)}`;
  assert.equal(renderList(emptyList, { ...frame, secret, columns: 80 })[1], secret);
});
