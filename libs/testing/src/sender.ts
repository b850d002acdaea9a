import { Readable } from "node:stream";
import type { TestPerson } from "./account-stand-in.ts";

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, bytes, forms and streams are sent unchanged; other values as JSON. */
  readonly body?: unknown;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly body: any;
}

/** Sends a request as a person, or anonymously. A header in the options overrides the person's own. */
export type Send = (
  who: Pick<TestPerson, "headers"> | null,
  method: string,
  path: string,
  options?: SendOptions,
) => Promise<TestAnswer>;

/** Sends requests to the listener at an address. The `body` of an answer is its parsed JSON, or null. */
export function createSender(url: string): Send {
  return async (who, method, path, { headers = {}, body } = {}) => {
    const isJson = body !== undefined && !goesAsItIs(body);
    const response = await fetch(url + path, {
      method,
      headers: { ...(isJson && { "content-type": "application/json" }), ...who?.headers, ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body, duplex: "half" }),
    } as RequestInit);
    return answerOf(response);
  };
}

function goesAsItIs(body: unknown): boolean {
  if (typeof body === "string") return true;
  return [Uint8Array, FormData, ReadableStream, Readable].some((kind) => body instanceof kind);
}

async function answerOf(response: Response): Promise<TestAnswer> {
  const { status, headers } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = headers.get("content-type")?.includes("json") && bytes.length > 0;
  return { status, headers, bytes, text: bytes.toString(), body: isJson ? JSON.parse(bytes.toString()) : null };
}
