import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import type { paths } from "./api.d.ts";
import { type RetryPolicy, retrying } from "./retry.ts";

/** Who is asking: an API key, or where the access token of each request comes from. */
type Credential = { readonly apiKey: string } | { readonly token: string | (() => string | Promise<string>) };

interface ClientOptions {
  /** Where Signalbox is, without a path: `https://signalbox.example`. */
  readonly baseUrl: string;
  /** Left out, requests are anonymous. */
  readonly credential?: Credential;
  readonly retry?: Partial<RetryPolicy>;
  /** How long one try may take; 30 s when left out. */
  readonly timeoutMs?: number;
  /** Another `fetch`, such as one with a connection pool of its own. */
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

/** A body with a file in it is a form; every other is JSON. */
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
