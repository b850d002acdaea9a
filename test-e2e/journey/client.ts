import assert from "node:assert/strict";
import { createHmac } from "node:crypto";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads members of many answers and asserts each.
  readonly json: any;
}

export interface ClientRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON unless it is a Buffer or a form. */
  readonly body?: unknown;
}

/** Longer than the slowest deadline of the product: a later answer would never come. */
const answerMs = 30_000;

/** Sends plain HTTP to one base URL with one key: the scenario sees exactly what a client sees. */
export function createClient(baseUrl: string, apiKey?: string) {
  return async function send(path: string, { method, headers = {}, body }: ClientRequest = {}): Promise<Answer> {
    const raw = body instanceof Buffer || body instanceof FormData;
    const response = await fetch(new URL(path, baseUrl), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      signal: AbortSignal.timeout(answerMs),
      headers: {
        ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
        ...(body === undefined || raw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as Buffer<ArrayBuffer> | FormData) : JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      json: isJson && bytes.length > 0 ? JSON.parse(bytes.toString("utf8")) : undefined,
    };
  };
}

export type Client = ReturnType<typeof createClient>;

/** Asserts the status and shows the answer if it differs: a bare "500 !== 201" explains nothing. */
export function expectStatus(answer: Answer, status: number): Answer {
  assert.equal(answer.status, status, answer.bytes.toString("utf8").slice(0, 2000));
  return answer;
}

/** The headers of a webhook with this body as GitHub signs and names it. */
export function githubHeaders(secret: string, body: string | Buffer) {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return {
    "content-type": "application/json",
    "x-github-delivery": crypto.randomUUID(),
    "x-github-event": "push",
    "x-hub-signature-256": `sha256=${signature}`,
  };
}

/** The upload of a photograph. */
export function photoForm(photo: Buffer): FormData {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(photo)], { type: "image/jpeg" }), "photo.jpg");
  return form;
}
