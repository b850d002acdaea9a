import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import type { Send } from "./call.ts";
import { withDeadline } from "./deadline.ts";
import type { FollowOptions } from "./event-stream.ts";
import type { paths } from "./generated/api.d.ts";
import type { Image, Resources } from "./generated/resources.ts";
import { type ImageSource, type UploadOptions, uploadImage, type WaitOptions, waitUntilReady } from "./images.ts";
import {
  type ConfigChange,
  configChanges,
  type SubscribeOptions,
  type SubscriptionMessage,
  subscribe,
} from "./live.ts";
import { consume, type MessageOptions, messages, type PulledMessage } from "./messages.ts";
import { createResources } from "./resources.ts";
import { type RetryPolicy, retrying, wait } from "./retry-backoff.ts";

/** Credential of the requests: an API key, or an access token with its source. */
export type Credential = { readonly apiKey: string } | { readonly token: string | (() => string | Promise<string>) };

export interface ClientOptions {
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

/** Operations of more than one request. */
export interface Workflows {
  /**
   * Uploads an image from a file, a Blob, bytes or a stream, in pieces: one that breaks off is sent on from where it
   * broke off.
   */
  uploadImage(source: ImageSource, options?: UploadOptions): Promise<Image>;
  /**
   * Waits until the variants of an image are there, two minutes unless `timeoutMs` says otherwise.
   * @throws ImageFailedError when they cannot be made
   */
  waitUntilReady(image: Image | string, options?: WaitOptions): Promise<Image>;
  /**
   * Messages of a pull endpoint, one after the other. A message is acknowledged when the loop asks for the next one, and
   * given back when its body throws or breaks off.
   */
  messages(endpointId: string, options?: MessageOptions): AsyncGenerator<PulledMessage, void, undefined>;
  /** Hands the messages of a pull endpoint to a handler: acknowledged when it ends, given back when it throws. */
  consume(
    endpointId: string,
    handler: (message: PulledMessage) => unknown,
    options?: MessageOptions & { readonly concurrency?: number },
  ): Promise<void>;
  /** Messages of a subscription of the graph; a broken connection resumes after the last one. */
  subscribe<Data = unknown>(
    query: string,
    options?: SubscribeOptions,
  ): AsyncGenerator<SubscriptionMessage<Data>, void, undefined>;
  /** Changes of configuration, settings and flags; a broken connection resumes after the last one. */
  configChanges(options?: FollowOptions): AsyncGenerator<ConfigChange, void, undefined>;
}

export type Client = FetchClient<paths> & Resources & Workflows;

/**
 * Creates a client with a method for every operation, `client.images.get(id)`, and one for every path:
 * `client.GET("/images/{image_id}", { params: { path: { image_id } } })`.
 */
export function createClient({ baseUrl, credential, retry, timeoutMs = 30_000, fetch }: ClientOptions): Client {
  const transport = fetch ?? ((request: Request) => globalThis.fetch(request));
  const client = createFetchClient<paths>({
    baseUrl,
    bodySerializer,
    fetch: retrying(withDeadline(transport, { timeoutMs }), retry),
  });
  if (credential) {
    client.use({
      async onRequest({ request }) {
        for (const [name, value] of await headersOf(credential)) request.headers.set(name, value);
      },
    });
  }
  const send: Send = (method, path, call) => {
    const { idempotencyKey, ifMatch, headers, signal, body, bodySerializer: serializer } = call;
    const deadline = { timeoutMs: call.timeoutMs ?? timeoutMs, isOfHeaders: call.isStream };
    const init = {
      params: { path: call.path, query: call.query },
      headers: { ...headers, "Idempotency-Key": idempotencyKey, "If-Match": ifMatch },
      body,
      bodySerializer: serializer,
      signal,
      parseAs: call.isStream ? "stream" : undefined,
      fetch: retrying(withDeadline(transport, deadline), retry, call.isRepeatable),
    };
    return client.request(method as "get", path as never, init as never);
  };
  const resources = createResources(send);
  const workflows: Workflows = {
    uploadImage: (source, options) =>
      uploadImage({ send, resources, transport, wait: retry?.wait ?? wait }, source, options),
    waitUntilReady: (image, options) => waitUntilReady(resources, image, options),
    messages: (endpointId, options) => messages(send, endpointId, options),
    consume: (endpointId, handler, options) => consume(send, endpointId, handler, options),
    subscribe: (query, options) => subscribe(send, query, options),
    configChanges: (options) => configChanges(send, options),
  };
  return Object.assign(client, resources, workflows);
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
