import assert from "node:assert/strict";
import { eventually, type ReceivedMail } from "@signalbox/testing";
import type { Harness } from "./harness.ts";

export const freshAddress = (name = "ada") => `${name}-${crypto.randomUUID()}@example.org`;

const codeLine = /^ {4}(\d{8})$/m;

/** Reads the code in a mail. */
export function codeIn({ text }: ReceivedMail): string {
  const [, code] = codeLine.exec(text) ?? [];
  assert.ok(code, `no code in: ${text}`);
  return code;
}

/** Reads the path of the link in a mail. */
export function linkIn({ text }: ReceivedMail): string {
  const [link] = /https?:\/\/\S+\/contact-links\/\S+/.exec(text) ?? [];
  assert.ok(link, `no link in: ${text}`);
  return new URL(link).pathname;
}

/** Returns a wrong code. */
export const otherThan = (code: string): string => String((Number(code) + 1) % 1e8).padStart(8, "0");

/** Operations on contact addresses, over HTTP. */
export function contactsOf(account: Harness) {
  const { mailbox, send } = account;
  type Headers = Record<string, string>;
  const path = "/api/account/";
  const read = async (headers: Headers) => (await send("GET", path, { headers })).body;
  const change = (headers: Headers, contact_address: string | null) =>
    send("PATCH", path, { headers, body: { contact_address } });
  const confirm = (headers: Headers, code: string) =>
    send("POST", "/api/account/contact-change/confirm", { headers, body: { code } });

  const mailWithCode = (address: string, count: number) =>
    eventually(() => mailbox.mails.filter(({ to, text }) => to === address && codeLine.test(text))[count - 1] ?? null);

  return {
    read,
    change,
    confirm,
    resend: (headers: Headers) => send("POST", "/api/account/contact-change/resend", { headers }),
    cancel: (headers: Headers) => send("DELETE", "/api/account/contact-change/", { headers }),
    /** Follows the link and presses the button. */
    follow: (link: string) => send("POST", link),
    /** A person whose sign-in came with a verified address. */
    async personWith(address: string) {
      const claims = { sub: crypto.randomUUID(), email: address, email_verified: true };
      const headers: Headers = account.person(claims);
      const { status, body } = await send("GET", path, { headers });
      assert.equal(status, 200, JSON.stringify(body));
      const { id } = body;
      /** The headers of a later sign-in. */
      const signInAgain = (): Headers => account.person(claims);
      return { headers, id: id as string, signInAgain };
    },
    /** Changes the address and confirms it as its new holder, with the code of code mail number `mailNumber`. */
    async adopt(headers: Headers, address: string, mailNumber = 1): Promise<void> {
      assert.equal((await change(headers, address)).status, 200);
      const { status } = await confirm(headers, codeIn(await mailWithCode(address, mailNumber)));
      assert.equal(status, 200);
    },
  };
}
