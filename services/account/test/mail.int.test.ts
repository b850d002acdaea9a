import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { minutes } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { type OpenContext, openContext } from "./open-context.ts";

let account: OpenContext;
beforeEach(async () => {
  account = await openContext();
});
afterEach(() => account.close());

const fresh = () => `${crypto.randomUUID()}@example.org`;

/** Queues a sign-in code, as an operation does, with a lifetime of ten minutes. */
const enqueue = (to: string, { code = "12345678", locale = "en", from = account } = {}) =>
  inTransaction(from.pool, (tx) => {
    const expiresAt = new Date(account.clock.nowMs() + minutes(10));
    return from.service.mails.enqueue(tx, {
      kind: "sign-in-code",
      to,
      accountId: null,
      locale,
      timezone: "UTC",
      expiresAt,
      code,
    });
  });

const rows = async (): Promise<string[]> => {
  const text = "select row_to_json(t)::text as row from outgoing_mails as t";
  return (await account.pool.query<{ row: string }>(sql("test.mails", text))).rows.map(({ row }) => row);
};
const queueIsEmpty = () => eventually(async () => (await rows()).length === 0);
/** Waits for the counter, which follows the commit: the row is deleted a moment earlier. */
const mailsCounted = (outcome: string, count: number) => {
  const sample = new RegExp(`^signalbox_mails_total\\{[^}]*outcome="${outcome}"[^}]*\\} ${count}$`, "m");
  return eventually(async () => sample.test(await account.metrics()));
};
const outcomes = () => account.logged.filter(({ msg }) => msg === "mail").map(({ outcome }) => outcome);
/** The queue uses the database's clock, so the rows are moved instead. */
const move = (column: "due_at" | "expires_at") =>
  account.pool.query(sql("", `update outgoing_mails set ${column} = ${column} - interval '10 minutes'`));
/** Makes the queued mails due, and ends their leases. */
const nextAttempt = () => move("due_at");

test("a mail leaves after its transaction, as text in the language of its reader, and nothing of it stays", async () => {
  account.sendMails();
  const [english, german] = [fresh(), fresh()];
  await enqueue(english);
  await enqueue(german, { locale: "de", code: "00000042" });
  const mail = await account.mailbox.mailTo(english);
  assert.equal(mail.subject, "Your sign-in code");
  assert.match(mail.text, /^ {4}12345678$/m);
  assert.equal(mail.from, "signalbox@localhost");
  assert.match(mail.headers.get("content-type") ?? "", /^text\/plain; charset=utf-8/i);
  assert.equal(mail.headers.get("auto-submitted"), "auto-generated");
  assert.match((await account.mailbox.mailTo(german)).text, /10 Minuten/);
  await queueIsEmpty();
});

test("a rolled back change sends nothing", async () => {
  account.sendMails();
  const [to, later] = [fresh(), fresh()];
  const work = inTransaction(account.pool, async (tx) => {
    const expiresAt = new Date(account.clock.nowMs() + minutes(10));
    const mail = {
      kind: "sign-in-code",
      to,
      accountId: null,
      locale: "en",
      timezone: "UTC",
      expiresAt,
      code: "1",
    } as const;
    await account.service.mails.enqueue(tx, mail);
    throw new Error("something else failed");
  });
  await assert.rejects(work, /something else failed/);
  await enqueue(later);
  await account.mailbox.mailTo(later);
  assert.deepEqual(
    account.mailbox.mails.map((mail) => mail.to),
    [later],
  );
});

test("the queue shows neither the address nor the code, and no log line ever does", async () => {
  const to = fresh();
  await enqueue(to, { code: "87654321" });
  const [row = ""] = await rows();
  assert.ok(row.includes("sign-in-code"));
  account.sendMails();
  account.mailbox.refuse({ code: 451 });
  await eventually(() => outcomes().includes("failed"));
  account.mailbox.refuse({ code: 550 });
  await nextAttempt();
  await eventually(() => outcomes().includes("refused"));
  for (const text of [row, JSON.stringify(account.logged)]) {
    assert.ok(!text.includes("87654321") && !text.includes(to), text);
  }
});

test("while the mail server is away mails wait, and leave when it is back", async () => {
  await account.mailbox.leave();
  account.sendMails();
  const addresses = Array.from({ length: 25 }, fresh);
  for (const to of addresses) await enqueue(to);
  await eventually(() => outcomes().filter((outcome) => outcome === "failed").length >= addresses.length);
  assert.equal((await rows()).length, addresses.length);

  await account.mailbox.comeBack();
  await nextAttempt();
  await queueIsEmpty();
  assert.deepEqual(account.mailbox.mails.map(({ to }) => to).sort(), [...addresses].sort());
  await mailsCounted("sent", addresses.length);
});

test("a refusal for now is tried again, one for good is final", async () => {
  const to = fresh();
  account.mailbox.refuse({ code: 451 });
  account.sendMails();
  await enqueue(to);
  await eventually(() => outcomes().length === 1);
  account.mailbox.refuse(null);
  await nextAttempt();
  await account.mailbox.mailTo(to);

  account.mailbox.refuse({ code: 550 });
  await enqueue(fresh());
  await eventually(() => outcomes().includes("refused"));
  await queueIsEmpty();
  assert.deepEqual(outcomes(), ["failed", "sent", "refused"]);
});

test("what is out of date is not sent any more: it is given up with one line and goes", async () => {
  await account.mailbox.leave();
  account.sendMails();
  const to = fresh();
  await enqueue(to);
  await eventually(() => outcomes().includes("failed"));
  await move("expires_at");
  await queueIsEmpty();
  await account.mailbox.comeBack();
  await mailsCounted("out_of_date", 1);
  assert.equal(outcomes().filter((outcome) => outcome === "out_of_date").length, 1);
  assert.equal(account.mailbox.mails.length, 0);
});

test("several instances share the queue, and each mail leaves once", async () => {
  const others = [await account.another(), await account.another()];
  const addresses = Array.from({ length: 60 }, fresh);
  for (const to of addresses) await enqueue(to);
  for (const instance of [account, ...others]) instance.sendMails();
  await queueIsEmpty();
  assert.deepEqual(account.mailbox.mails.map(({ to }) => to).sort(), [...addresses].sort());
  await Promise.all(others.map((instance) => instance.close()));
});

test("a mail leaves at once from an instance whose clock is behind, and is leased to one by one whose clock is ahead", async () => {
  const [ahead, behind] = [fresh(), fresh()];
  account.clock.advance(120_000);
  await enqueue(ahead);
  account.clock.advance(-240_000);
  await enqueue(behind);
  account.sendMails();
  await account.mailbox.mailTo(behind);
  await account.mailbox.mailTo(ahead);
});

test("a mail whose sender died between sending and removing is sent again, under the same Message-ID", async () => {
  const to = fresh();
  await enqueue(to);
  // Simulates a sender that was killed after sending: the mail has left, its row is still leased.
  const dying = await account.another();
  await account.pool.query(
    sql("test.die", "create function die() returns trigger as $$ begin raise 'killed'; end $$ language plpgsql"),
  );
  await account.pool.query(
    sql("test.keep", "create trigger die before delete on outgoing_mails for each row execute function die()"),
  );
  dying.sendMails();
  const first = await account.mailbox.mailTo(to);
  await dying.close();
  await account.pool.query(sql("test.let-go", "drop trigger die on outgoing_mails"));
  assert.equal((await rows()).length, 1);

  account.sendMails();
  await nextAttempt();
  const second = await account.mailbox.mailTo(to, 2);
  assert.equal(second.headers.get("message-id"), first.headers.get("message-id"));
  await queueIsEmpty();
});

test("a server that is slow delays no mail but those it holds", async () => {
  account.mailbox.delay(300);
  account.sendMails();
  const addresses = Array.from({ length: 10 }, fresh);
  for (const to of addresses) await enqueue(to);
  await queueIsEmpty();
  assert.equal(account.mailbox.mails.length, addresses.length);
});

test("addresses in any script arrive as they are", async () => {
  account.sendMails();
  await enqueue("jörg@bücher.example");
  await queueIsEmpty();
  assert.deepEqual(
    account.mailbox.mails.map(({ to }) => to),
    ["jörg@bücher.example"],
  );
});

test("an address that would add headers or recipients is never spoken", async () => {
  account.sendMails();
  const hostile = ["a@example.org\r\nBcc: victim@example.org", "a@example.org>\r\nRCPT TO:<victim@example.org"];
  for (const to of hostile) await enqueue(to);
  await queueIsEmpty();
  for (const { to, headers } of account.mailbox.mails) {
    assert.ok(!to.includes("victim") || !headers.has("bcc"));
    assert.equal(headers.get("bcc"), undefined);
  }
});

test("an instance that cannot open a mail any more gives it up", async () => {
  const other = await account.another({ "secrets.keys": `next:${Buffer.alloc(32, 8).toString("base64")}` });
  await enqueue(fresh());
  other.sendMails();
  await queueIsEmpty();
  assert.equal(account.mailbox.mails.length, 0);
  await other.close();
});
