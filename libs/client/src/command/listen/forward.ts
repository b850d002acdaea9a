import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
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

/** Returns the address that `--forward` names. */
export function targetOf(given: string): URL {
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

/** Posts a message to the local receiver as a push would: the same bytes under the same headers. Never throws. */
export function forward(
  url: URL,
  message: Pick<Message, "headers" | "body" | "body_encoding">,
  { timeoutMs, nowMs }: { readonly timeoutMs: number; readonly nowMs: () => number },
): Promise<LocalAnswer> {
  const bytes = bytesOf(message);
  const own = Object.entries(message.headers).filter(([name]) => !hopHeaders.has(name.toLowerCase()));
  const headers = { ...Object.fromEntries(own), "content-length": bytes.length };
  const startedMs = nowMs();
  return new Promise((resolve) => {
    const done = (status: number | null, error: string | null, body = "") =>
      resolve({ status, error, ms: nowMs() - startedMs, body });
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const signal = AbortSignal.timeout(timeoutMs);
    const request = send(url, { method: "POST", headers, signal }, (response) => {
      const { statusCode = 0 } = response;
      const begin: Buffer[] = [];
      let kept = 0;
      response.on("data", (chunk: Buffer) => {
        if (kept < shownBytesMax) begin.push(chunk.subarray(0, shownBytesMax - kept));
        kept += chunk.length;
      });
      // A status without the rest of its answer is an answer, as it is for a push.
      for (const event of ["end", "error", "aborted"]) {
        response.once(event, () => done(statusCode, null, Buffer.concat(begin).toString()));
      }
    });
    request.once("error", (error: NodeJS.ErrnoException) => done(null, errorOf(error, signal.aborted)));
    request.end(bytes);
  });
}

/** Connecting to several addresses fails with all of their errors. */
function errorOf(error: NodeJS.ErrnoException, hasTimedOut: boolean): string {
  if (hasTimedOut) return "TIMEOUT";
  const first = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : error;
  return first.code ?? first.message;
}
