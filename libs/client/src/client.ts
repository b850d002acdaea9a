import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import type { paths } from "./generated/api.d.ts";
import { type RetryPolicy, retrying } from "./retry.ts";

/** Credential of the requests: an API key, or an access token with its source. */
type Credential = { readonly apiKey: string } | { readonly token: string | (() => string | Promise<string>) };

interface ClientOptions {
  /** Origin of Signalbox, such as `https://signalbox.example`. */
  readonly baseUrl: string;
  /** Without it, requests are anonymous. */
  readonly credential?: Credential;
  readonly retry?: Partial<RetryPolicy>;
  /** Time limit of one try. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Replacement of `fetch`, such as one with its own connection pool. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

export type Client = FetchClient<paths>;

/**
 * Creates a client whose paths, parameters, bodies and answers have the types of the API:
 * `client.GET("/images/{image_id}", { params: { path: { image_id } } })`.
 */
export function createClient({ baseUrl, credential, retry, timeoutMs = 30_000, fetch }: ClientOptions): Client {
  const send = fetch ?? ((request: Request) => globalThis.fetch(request));
  const withDeadline = (request: Request) =>
    send(new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) }));
  const client = createFetchClient<paths>({ baseUrl, bodySerializer, fetch: retrying(withDeadline, retry) });
  if (credential) {
    client.use({
      async onRequest({ request }) {
        for (const [name, value] of await headersOf(credential)) request.headers.set(name, value);
      },
    });
  }
  return client;
}

async function headersOf(credential: Credential): Promise<[string, string][]> {
  if ("apiKey" in credential) return [["X-API-Key", credential.apiKey]];
  const token = typeof credential.token === "string" ? credential.token : await credential.token();
  return [["Authorization", `Bearer ${token}`]];
}

/** Serializes a body: a form when it holds a file, otherwise JSON. */
function bodySerializer(body: unknown): string | FormData {
  const members = Object.entries((body ?? {}) as Record<string, unknown>);
  if (!members.some(([, value]) => value instanceof Blob)) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of members) {
    for (const part of Array.isArray(value) ? value : [value])
      form.append(name, part instanceof Blob ? part : `${part}`);
  }
  return form;
}
