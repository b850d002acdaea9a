import { Agent, request as plain } from "node:http";
import { Agent as SecureAgent, request as secure } from "node:https";
import { buffer } from "node:stream/consumers";

export interface Reply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly requestId: string | undefined;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: readers take members of many answers.
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** Sends a request; `null` without an answer, for any reason: its effect is unknown. */
export type Http = (path: string, call?: Call) => Promise<Reply | null>;

/** Patience of a client. */
const answerMs = 10_000;
const kept = { keepAlive: true, maxSockets: 64 };
const senders = {
  "http:": { send: plain, agent: new Agent(kept) },
  "https:": { send: secure, agent: new SecureAgent(kept) },
};

/** Sends HTTP to a base URL with one key, by Node's own client. */
export function createHttp(baseUrl: string, key: string | null = null): Http {
  return async (path, { method, headers = {}, body, timeoutMs = answerMs } = {}) => {
    const bytes = body === undefined || body instanceof Buffer ? body : Buffer.from(JSON.stringify(body));
    const all = {
      ...(key === null ? {} : { "x-api-key": key }),
      ...(bytes && { "content-type": "application/json", "content-length": String(bytes.length) }),
      ...headers,
    };
    const asked = { method: method ?? (bytes ? "POST" : "GET"), headers: all };
    try {
      return await exchange(new URL(path, baseUrl), asked, bytes, timeoutMs);
    } catch {
      return null;
    }
  };
}

async function exchange(
  url: URL,
  asked: { readonly method: string; readonly headers: Record<string, string> },
  body: Buffer | undefined,
  timeoutMs: number,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { send, agent } = senders[url.protocol as keyof typeof senders];
  const request = send(url, { agent, ...asked }, async (response) => {
    try {
      const bytes = await buffer(response);
      const isJson = (response.headers["content-type"] ?? "").includes("json") && bytes.length > 0;
      const json = isJson ? JSON.parse(bytes.toString("utf8")) : undefined;
      const { etag, "x-request-id": requestId } = response.headers;
      resolve({ status: response.statusCode ?? 0, etag, requestId: requestId as string | undefined, bytes, json });
    } catch (error) {
      reject(error);
    }
  });
  const timer = setTimeout(() => request.destroy(new Error("no answer in time")), timeoutMs);
  request.once("error", reject);
  request.end(body);
  return await promise.finally(() => clearTimeout(timer));
}

/** Builds a form with fields and one file, as a browser sends it. */
export function formOf(fields: Readonly<Record<string, string>>, file: { name: string; type: string; bytes: Buffer }) {
  const boundary = `ledger-${Math.random().toString(36).slice(2)}`;
  const part = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`);
  const head = `${part(`name="file"; filename="${file.name}"`)}Content-Type: ${file.type}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(texts.join("") + head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { body, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } };
}

/** Returns the effect of a write by its answer: done, certainly not done, or unknown. */
export function outcomeOf(reply: Reply | null): "ok" | "fail" | "info" {
  if (reply === null || reply.status >= 500) return "info";
  return reply.status < 300 ? "ok" : "fail";
}
