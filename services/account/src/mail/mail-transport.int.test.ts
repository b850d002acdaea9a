import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { createMailbox } from "@signalbox/testing";
import { openMailTransport } from "./mail-transport.ts";

const mail = { id: "0190", to: "ada@example.org", subject: "Your sign-in code", text: "Hello\n\n    12345678\n" };

test("log: prints the mail to standard error, where the operator of the machine reads it", async (t) => {
  const written: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => written.push(text) > 0);
  await openMailTransport("log:", "Signalbox <signalbox@localhost>").send(mail);
  const [text = ""] = written;
  for (const part of ["From: Signalbox <signalbox@localhost>", "To: ada@example.org", mail.subject, "12345678"]) {
    assert.ok(text.includes(part), part);
  }
});

test("a password is never sent without TLS, and no failure names the recipient or the password", async (t) => {
  const mailbox = await createMailbox();
  t.after(() => mailbox.close());
  const send = openMailTransport(mailbox.url.replace("//", "//user:pass%20word@"), "signalbox@localhost").send(mail);
  await assert.rejects(send, (error: Error) => {
    assert.equal(error.name, "Error", "it may be tried again, once the server is set up");
    assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause]), /ada@|pass word/);
    return true;
  });
  assert.equal(mailbox.mails.length, 0);
});

test("no refusal of a mail server names the recipient", async (t) => {
  const mailbox = await createMailbox();
  t.after(() => mailbox.close());
  const { send } = openMailTransport(mailbox.url, "signalbox@localhost");
  for (const [code, name] of [
    [550, "MailRefused"],
    [450, "Error"],
  ] as const) {
    mailbox.refuse({ code });
    await assert.rejects(send(mail), (error: Error) => {
      assert.equal(error.name, name);
      assert.match(error.message, new RegExp(String(code)));
      assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause]), /ada@/);
      return true;
    });
  }
});
