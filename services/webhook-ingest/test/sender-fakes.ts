import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@signalbox/core";

/** The answer of a fake: its status, JSON and headers. */
interface Answer {
  readonly status: number;
  readonly json: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Fake {
  readonly url: string;
  /** Requests so far, as `METHOD path`. */
  readonly requests: readonly string[];
  /** Answers of the next requests, before the usual ones. */
  readonly answers: Answer[];
  /** Requests that broke a documented limit. */
  readonly broken: readonly string[];
  close(): Promise<void>;
}

const minuteMs = 60_000;

/** Starts the server of a fake. Each request takes `latencyMs` of the clock, where the test moves it. */
async function startFake(
  answer: (request: IncomingMessage, url: URL) => Answer,
  limit: (request: IncomingMessage) => string | null,
  onRequest: () => void,
): Promise<Fake> {
  const [requests, answers, broken]: [string[], Answer[], string[]] = [[], [], []];
  const server: Server = createServer((request, response) => {
    onRequest();
    requests.push(`${request.method} ${request.url}`);
    const problem = limit(request);
    if (problem !== null) broken.push(problem);
    const given = answers.shift() ?? answer(request, new URL(request.url ?? "", "http://fake"));
    const { status, json, headers } = problem === null ? given : { status: 429, json: {}, headers: {} };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answers,
    broken,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface FakeWebhook {
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Attempt {
  readonly id: number;
  readonly webhook: FakeWebhook;
  readonly at: Date;
  readonly statusCode: number;
  readonly redelivery: boolean;
}

interface FakeOptions {
  /** Sent as a form. */
  readonly form?: boolean;
  /** In bytes that no reader of the JSON can know. */
  readonly spaced?: boolean;
  readonly event?: string;
}

export interface FakeGithub extends Fake {
  /** Creates a webhook as GitHub signs it. */
  create(number: number, options?: FakeOptions): FakeWebhook;
  /** Notes an attempt at a time with its answer; 502 when nobody answered. */
  note(webhook: FakeWebhook, at: Date, statusCode?: number): void;
  /** Sends a webhook again, as asked for: set by the test. */
  redeliver: (webhook: FakeWebhook) => Promise<number>;
}

export const githubKey = "github_pat_11AAAAAAA0example";
const hook = "/repos/acme/shop/hooks/42/deliveries";
const pageSize = 100;

/**
 * GitHub's deliveries of a webhook as documented (REST API 2022-11-28): `GET …/deliveries` with cursors in `Link`,
 * `GET …/deliveries/{id}`, `POST …/deliveries/{id}/attempts`; 5,000 requests an hour, 900 points a minute (a read is one, a
 * write five), a second between writes, one request at a time.
 */
export async function startFakeGithub(
  clock: Clock,
  secret: string,
  onRequest: () => void = () => {},
): Promise<FakeGithub> {
  const attempts: Attempt[] = [];
  const used: { readonly atMs: number; readonly points: number }[] = [];
  const perHour = 5_000;
  const resetMs = clock.nowMs() + 3_600_000;

  function limit({ method }: IncomingMessage): string | null {
    const nowMs = clock.nowMs();
    const points = method === "GET" ? 1 : 5;
    const lastWrite = used.findLast((one) => one.points === 5);
    used.push({ atMs: nowMs, points });
    if (method !== "GET" && lastWrite && nowMs - lastWrite.atMs < 1_000) return "two writes in a second";
    const minute = used.filter(({ atMs }) => atMs > nowMs - minuteMs).reduce((sum, one) => sum + one.points, 0);
    if (minute > 900) return "900 points in a minute";
    return used.length > perHour ? "5,000 requests in an hour" : null;
  }

  const rateHeaders = () => ({
    "x-ratelimit-limit": String(perHour),
    "x-ratelimit-remaining": String(perHour - used.length),
    "x-ratelimit-reset": String(Math.ceil(resetMs / 1_000)),
  });

  function list(url: URL): Answer {
    const newest = attempts.toSorted((one, other) => other.at.getTime() - one.at.getTime() || other.id - one.id);
    const size = Math.min(Number(url.searchParams.get("per_page") ?? 30), pageSize);
    const cursor = url.searchParams.get("cursor");
    const start = cursor === null ? 0 : newest.findIndex(({ id }) => `v1_${id}` === cursor);
    const page = newest.slice(start, start + size);
    const after = newest[start + size];
    const next = `<https://api.github.com${hook}?per_page=${size}&cursor=v1_${after?.id}>; rel="next"`;
    const json = page.map(({ id, webhook, at, statusCode, redelivery }) => ({
      id,
      guid: webhook.id,
      delivered_at: at.toISOString(),
      redelivery,
      duration: 0.03,
      status: statusCode === 502 ? "failed to connect" : statusCode < 300 ? "OK" : "Invalid HTTP Response",
      status_code: statusCode,
      event: webhook.headers["x-github-event"],
      action: null,
      installation_id: null,
      repository_id: 123,
      throttled_at: null,
    }));
    return { status: 200, json, headers: { ...rateHeaders(), ...(after && { link: next }) } };
  }

  function detail(id: number): Answer {
    const found = attempts.find((one) => one.id === id);
    if (!found) return { status: 404, json: { message: "Not Found" }, headers: rateHeaders() };
    const { webhook } = found;
    const isForm = webhook.headers["content-type"] !== "application/json";
    const text = isForm ? (new URLSearchParams(webhook.body).get("payload") ?? "") : webhook.body;
    const headers = { ...webhook.headers, "User-Agent": "GitHub-Hookshot/0000000", Accept: "*/*" };
    const request = { headers, payload: JSON.parse(text) };
    return { status: 200, json: { id, guid: webhook.id, request, response: {} }, headers: rateHeaders() };
  }

  function retry(id: number): Answer {
    const found = attempts.find((one) => one.id === id);
    if (!found) return { status: 404, json: { message: "Not Found" }, headers: rateHeaders() };
    fake.redeliver(found.webhook).then(
      (statusCode) => note(found.webhook, clock.now(), statusCode, true),
      () => note(found.webhook, clock.now(), 502, true),
    );
    return { status: 202, json: {}, headers: rateHeaders() };
  }

  function note(webhook: FakeWebhook, at: Date, statusCode = 502, redelivery = false): void {
    attempts.push({ id: attempts.length + 1, webhook, at, statusCode, redelivery });
  }

  const server = await startFake(
    (request, url) => {
      if (request.headers.authorization !== `Bearer ${githubKey}`)
        return { status: 401, json: { message: "Bad credentials" } };
      const [, id, ask] = new RegExp(`^${hook}(?:/(\\d+)(/attempts)?)?$`).exec(url.pathname) ?? [null];
      if (!url.pathname.startsWith(hook)) return { status: 404, json: { message: "Not Found" } };
      if (id === undefined) return list(url);
      return ask ? retry(Number(id)) : detail(Number(id));
    },
    limit,
    onRequest,
  );
  const fake: FakeGithub = Object.assign(server, {
    create(number: number, { form = false, spaced = false, event = "issues" }: FakeOptions = {}) {
      const payload = { action: "opened", issue: { number, title: "Caf\u00e9 & <more>" }, sender: { id: 7 } };
      const json = JSON.stringify(payload, null, spaced ? 1 : 0);
      const body = form ? new URLSearchParams({ payload: json }).toString() : json;
      const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
      const headers = {
        "content-type": form ? "application/x-www-form-urlencoded" : "application/json",
        "x-github-event": event,
        "x-github-delivery": id,
        "x-github-hook-id": "42",
        "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      };
      return { id, headers, body };
    },
    note,
    redeliver: () => assert.fail("nothing needs to be sent again"),
  });
  return fake;
}

export interface FakeStripe extends Fake {
  /** Creates an event at a time that no endpoint has taken. */
  create(number: number, at: Date, options?: { readonly type?: string }): FakeWebhook;
  /** Notes that the endpoint took an event. */
  /** Notes that the endpoints took all events so far. */
  deliverAll(): void;
  /** Returns the webhook as Stripe would push it now. */
  signedNow(webhook: FakeWebhook): FakeWebhook;
}

export const stripeKey = "rk_live_example0123456789";

/**
 * Stripe's list of events as documented: `GET /v1/events` with `created`, `delivery_success`, `limit` and `starting_after`,
 * newest first; 25 requests a second, as in a sandbox.
 */
export async function startFakeStripe(
  clock: Clock,
  secret: string,
  onRequest: () => void = () => {},
): Promise<FakeStripe> {
  const events: { readonly id: string; readonly created: number; readonly json: object; delivered: boolean }[] = [];
  const times: number[] = [];

  function list(url: URL): Answer {
    const number = (name: string) => Number(url.searchParams.get(name));
    assert.equal(url.searchParams.get("delivery_success"), "false");
    const found = events
      .filter(
        ({ created, delivered }) => !delivered && created >= number("created[gte]") && created < number("created[lt]"),
      )
      .toSorted((one, other) => other.created - one.created || (one.id < other.id ? 1 : -1));
    const after = url.searchParams.get("starting_after");
    const start = after === null ? 0 : found.findIndex(({ id }) => id === after) + 1;
    const data = found.slice(start, start + number("limit")).map(({ json }) => json);
    return {
      status: 200,
      json: { object: "list", url: "/v1/events", has_more: start + data.length < found.length, data },
    };
  }

  const server = await startFake(
    (request, url) => {
      if (request.headers.authorization !== `Bearer ${stripeKey}`)
        return { status: 401, json: { error: { type: "invalid_request_error", message: "Invalid API Key provided" } } };
      return url.pathname === "/v1/events" ? list(url) : { status: 404, json: {} };
    },
    () => {
      const nowMs = clock.nowMs();
      times.push(nowMs);
      return times.filter((at) => at > nowMs - 1_000).length > 25 ? "25 requests in a second" : null;
    },
    onRequest,
  );
  /** Signs a body as Stripe does, at the time of the clock. */
  function signed(id: string, body: string): FakeWebhook {
    const at = Math.floor(clock.nowMs() / 1_000);
    const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
    return { id, headers: { "content-type": "application/json", "stripe-signature": `t=${at},v1=${signature}` }, body };
  }

  return Object.assign(server, {
    create(number: number, at: Date, { type = "charge.succeeded" } = {}) {
      const created = Math.floor(at.getTime() / 1_000);
      const id = `evt_${String(number).padStart(24, "0")}`;
      const json = {
        id,
        object: "event",
        api_version: "2025-04-30.basil",
        created,
        data: { object: { id: `ch_${number}`, object: "charge", amount: 1_999, metadata: {} } },
        livemode: true,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
      };
      events.push({ id, created, json, delivered: false });
      // A push has another number of endpoints that wait, so its bytes are others than those of the list.
      return signed(id, JSON.stringify({ ...json, pending_webhooks: 2 }, null, 2));
    },
    signedNow: ({ id, body }: FakeWebhook) => signed(id, body),
    deliverAll() {
      for (const event of events) event.delivered = true;
    },
  });
}
