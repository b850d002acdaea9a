import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { eventually } from "./eventually.ts";

export interface ReceivedMail {
  /** The addresses of the SMTP conversation, which decide the recipient of a mail. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Names in lower case, values unchanged. */
  readonly headers: ReadonlyMap<string, string>;
}

/** The refusal of a mail; the text may name the recipient, as real servers do. */
interface Refusal {
  readonly code: number;
  readonly message?: string;
}

export interface Mailbox {
  /** Value for `mail.url`. */
  readonly url: string;
  /** All mails so far, oldest first. */
  readonly mails: readonly ReceivedMail[];
  /** Waits for mail number `count` to an address and returns it; earlier mails count. */
  mailTo(address: string, count?: number): Promise<ReceivedMail>;
  /** Refuses every recipient with this answer; `null` accepts mails again. */
  refuse(refusal: Refusal | null): void;
  /** Delays the acceptance of each mail. */
  delay(milliseconds: number): void;
  /** Closes the port and every connection, like a server that is down. */
  leave(): Promise<void>;
  /** Listens again, on the same port. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** A real SMTP server on a free port of 127.0.0.1, with SMTPUTF8, for every address. */
export async function createMailbox(): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  let refusal: Refusal | null = null;
  let delayMs = 0;

  const receive = async (stream: SMTPServerDataStream, { envelope }: SMTPServerSession) => {
    const mail = await text(stream);
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
    const [from, to] = [envelope.mailFrom ? envelope.mailFrom.address : "", envelope.rcptTo[0]?.address ?? ""];
    mails.push({ from, to, ...readMail(mail) });
  };

  const listen = async (port: number): Promise<SMTPServer> => {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      disableReverseLookup: true,
      closeTimeout: 1,
      onRcptTo: ({ address }, _session, callback) => {
        if (!refusal) return callback();
        const { code, message = `no such mailbox here: <${address}>` } = refusal;
        callback(Object.assign(new Error(message), { responseCode: code }));
      },
      onData: (stream, session, callback) => {
        receive(stream, session).then(() => callback(), callback);
      },
    });
    // A client that disconnects in the middle is no failure of the test.
    server.on("error", () => {});
    await once(server.listen(port, "127.0.0.1"), "listening");
    return server;
  };
  const stop = (server: SMTPServer) => new Promise<void>((resolve) => server.close(resolve));

  let server: SMTPServer | null = await listen(0);
  const { port } = (server.server as Server).address() as AddressInfo;
  const leave = async () => {
    if (server) await stop(server);
    server = null;
  };

  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    mailTo: (address, count = 1) =>
      eventually(() => mails.filter(({ to }) => to === address)[count - 1] ?? null, {
        message: `mail number ${count} arrives`,
      }),
    refuse: (next) => {
      refusal = next;
    },
    delay: (milliseconds) => {
      delayMs = milliseconds;
    },
    leave,
    comeBack: async () => {
      server ??= await listen(port);
    },
    close: leave,
  };
}

/** Reads a mail of one plain text part (RFC 5322, RFC 2045, RFC 2047), without the code that wrote it. */
function readMail(raw: string) {
  const end = raw.indexOf("\r\n\r\n");
  const headers = new Map(
    raw
      .slice(0, end)
      .replace(/\r\n[ \t]+/g, " ")
      .split("\r\n")
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = raw.slice(end + 4);
  return {
    headers,
    subject: decodeWords(headers.get("subject") ?? ""),
    text: decodeBody(body, headers.get("content-transfer-encoding") ?? "7bit").replaceAll("\r\n", "\n"),
  };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding.toLowerCase() === "base64") return Buffer.from(body, "base64").toString();
  if (encoding.toLowerCase() !== "quoted-printable") return body;
  return decodeEscapes(body.replace(/=\r\n/g, ""));
}

/** Encoded words, such as `=?UTF-8?Q?best=C3=A4tigen?=`; white space between two of them does not count. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) => {
      if (kind.toLowerCase() === "b") return Buffer.from(word, "base64").toString();
      return decodeEscapes(word.replaceAll("_", " "));
    });
}

function decodeEscapes(text: string): string {
  const binary = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(binary, "latin1").toString();
}
