import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { rootCertificates } from "node:tls";
import { UsageError } from "../failures.ts";
import type { Message } from "./messages.ts";

/** The answer of the local receiver. */
export interface LocalAnswer {
  /** Null without an answer. */
  readonly status: number | null;
  /** The reason why there is none, such as `ECONNREFUSED`. */
  readonly error: string | null;
  readonly ms: number;
  /** Beginning of the body. */
  readonly body: string;
}

/** Options of a command that forwards. */
export interface ForwardOptions {
  readonly forward: string | undefined;
  readonly ca: string | undefined;
  readonly "skip-verify": boolean;
}

/** The address of a local receiver, and the connections to it. */
export interface Receiver {
  readonly url: URL;
  readonly connection: https.RequestOptions;
}

/** Returns the receiver that the options name; null without `--forward`. @throws UsageError */
export async function receiverOf(options: ForwardOptions): Promise<Receiver | null> {
  const { forward: given, ca, "skip-verify": skipsVerification } = options;
  const url = given === undefined ? null : targetOf(given);
  if ((ca !== undefined || skipsVerification) && url?.protocol !== "https:")
    throw new UsageError("--ca and --skip-verify need --forward with an https:// URL.");
  if (url === null) return null;
  const isSecure = url.protocol === "https:";
  // A receiver on this machine is not behind the proxy of the usual variables, which the agents of Node use.
  const agent = isLoopback(url) ? new (isSecure ? https : http).Agent({ keepAlive: true }) : undefined;
  const trust = ca === undefined ? {} : { ca: [...rootCertificates, await certificatesOf(ca)] };
  return { url, connection: { ...(agent && { agent }), ...trust, rejectUnauthorized: !skipsVerification } };
}

const isLoopback = ({ hostname }: URL): boolean => /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(hostname);

async function certificatesOf(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(text)) return text;
  throw new UsageError(`--ca ${path} is not a readable file with a certificate in PEM.`);
}

/** Returns the address that `--forward` names. */
function targetOf(given: string): URL {
  // `3000`, `:3000/hooks` and `localhost:3000` are what people type.
  const text = given.replace(/^:?(?=\d+(\/|$))/, "localhost:");
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw new UsageError(`Invalid URL --forward ${given}: use one such as http://localhost:3000/hooks.`);
  return new URL(url);
}

const shownBytesMax = 2_048;

export const isSuccess = ({ status }: LocalAnswer): boolean => status !== null && status >= 200 && status < 300;

/** Describes an answer that is no success, for the log of attempts; null for a success. */
export const failureOf = (answer: LocalAnswer): string | null =>
  isSuccess(answer) ? null : (answer.error ?? `The local receiver answered ${answer.status}.`);

/** Returns the bytes that were signed. */
export const bytesOf = ({ body, body_encoding: encoding }: Pick<Message, "body" | "body_encoding">): Buffer =>
  Buffer.from(body, encoding);

/** Headers of one hop. Those of the hop to the local receiver are its own. */
const hopHeaders: ReadonlySet<string> = new Set(["host", "connection", "content-length", "transfer-encoding"]);

export interface ForwardTerms {
  /** Longest time for the whole answer. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  /** Longest time until the connection is there, its handshake included. */
  readonly connectMsMax?: number;
  /** Longest wait for the next bytes of the answer's body. */
  readonly silenceMsMax?: number;
}

/** Posts a message to the local receiver as a push would: the same bytes under the same headers. Never throws. */
export function forward(
  { url, connection }: Receiver,
  message: Pick<Message, "headers" | "body" | "body_encoding">,
  { timeoutMs, nowMs, connectMsMax = 10_000, silenceMsMax = 30_000 }: ForwardTerms,
): Promise<LocalAnswer> {
  const bytes = bytesOf(message);
  const own = Object.entries(message.headers).filter(([name]) => !hopHeaders.has(name.toLowerCase()));
  const headers = { ...Object.fromEntries(own), "content-length": bytes.length };
  const startedMs = nowMs();
  return new Promise((resolve) => {
    const { request: send } = url.protocol === "https:" ? https : http;
    const signal = AbortSignal.timeout(timeoutMs);
    const request = send(url, { ...connection, method: "POST", headers, signal });
    const connecting = setTimeout(() => request.destroy(codeError("CONNECT_TIMEOUT")), connectMsMax);
    const done = (status: number | null, error: string | null, body = "") => {
      clearTimeout(connecting);
      resolve({ status, error, ms: nowMs() - startedMs, body });
    };
    request.once("socket", (socket) => {
      if (request.reusedSocket) clearTimeout(connecting);
      socket.once("secureConnect", () => clearTimeout(connecting));
      if (url.protocol === "http:") socket.once("connect", () => clearTimeout(connecting));
    });
    request.once("response", (response) => {
      const { statusCode = 0 } = response;
      const begin: Buffer[] = [];
      let kept = 0;
      // A status without the rest of its answer is an answer, as it is for a push.
      const end = () => {
        clearTimeout(silence);
        done(statusCode, null, Buffer.concat(begin).toString());
        if (!response.complete) request.destroy();
      };
      clearTimeout(connecting);
      const silence = setTimeout(end, silenceMsMax);
      response.on("data", (chunk: Buffer) => {
        silence.refresh();
        if (kept < shownBytesMax) begin.push(chunk.subarray(0, shownBytesMax - kept));
        kept += chunk.length;
      });
      for (const event of ["end", "error", "aborted"]) response.once(event, end);
    });
    request.once("error", (error: NodeJS.ErrnoException) => done(null, errorOf(error, signal.aborted)));
    request.end(bytes);
  });
}

const codeError = (code: string): Error => Object.assign(new Error(code), { code });

const untrusted = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/;

/** Connecting to several addresses fails with all of their errors. */
function errorOf(error: NodeJS.ErrnoException, hasTimedOut: boolean): string {
  if (hasTimedOut) return "TIMEOUT";
  const first = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : error;
  const code = first.code ?? first.message;
  return untrusted.test(code) ? `${code} (trust it with --ca or --skip-verify)` : code;
}
