import assert from "node:assert/strict";
import { createOidcIssuer, createReceiver, eventually, readFixture } from "@signalbox/testing";
import { githubHeaders, photoForm } from "../journey/client.ts";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { trusting } from "../systems/trusted-people.ts";

export type Headers = Readonly<Record<string, string>>;

/** A step of a chain. */
export interface Step {
  readonly at: string | null;
  readonly service: string;
  readonly id: string | null;
  readonly what: string;
  readonly verdict: string;
  readonly reason: string | null;
  readonly by: string | null;
}

export type WhyScene = Awaited<ReturnType<typeof openWhyScene>>;

export const textsOf = (steps: readonly Step[]) => steps.map(({ what }) => what);

const secret = "the secret of the partner";

/** Opens an embedded system whose people, partners and receiver are the test's. */
export async function openWhyScene(overrides: Headers = {}) {
  const [issuer, receiver] = await Promise.all([createOidcIssuer(), createReceiver()]);
  const properties = { ...trusting(issuer), "webhook-delivery.outbound.allow": "127.0.0.1:*", ...overrides };
  const system = await startEmbeddedSystem({ properties });

  async function send(who: Headers, method: string, path: string, body?: unknown, headers: Headers = {}) {
    const isBytes = typeof body === "string" || body instanceof FormData;
    const answer = await fetch(system.baseUrl + path, {
      method,
      headers: { ...who, ...(body !== undefined && !isBytes && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: isBytes ? (body as string) : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      requestId: answer.headers.get("x-request-id") ?? "",
      // biome-ignore lint/suspicious/noExplicitAny: bodies of many forms.
      json: (text === "" ? null : JSON.parse(text)) as any,
    };
  }

  async function why(who: Headers, id: string): Promise<readonly Step[]> {
    const { status, json } = await send(who, "GET", `/api/v1/why/${encodeURIComponent(id)}`);
    return status === 200 ? json.items : [];
  }

  async function newEndpoint(owner: Headers, endpoint: object): Promise<string> {
    const { status, json } = await send(owner, "POST", "/api/v1/webhooks/endpoints", {
      url: receiver.url,
      ...endpoint,
    });
    assert.equal(status, 201, JSON.stringify(json));
    return json.id;
  }

  return {
    system,
    receiver,
    send,
    why,
    newEndpoint,

    person(): Headers {
      const claims = { sub: crypto.randomUUID(), jti: crypto.randomUUID(), auth_time: Math.floor(Date.now() / 1000) };
      return { authorization: `Bearer ${issuer.sign(claims, { expiresInSeconds: 900 })}` };
    },

    /** Asks until the chain has what the test waits for. */
    chainWith: (who: Headers, id: string, isThere: (steps: readonly Step[]) => boolean) =>
      eventually(async () => {
        const steps = await why(who, id);
        return isThere(steps) && steps;
      }),

    /** Creates an endpoint, publishes an event to it, and returns both with the delivery once it was attempted. */
    async delivered(owner: Headers, status: number, headers: Headers = {}) {
      receiver.answer({ status });
      const endpoint = await newEndpoint(owner, { event_types: ["order.paid"] });
      const event = { type: "order.paid", data: { amount: 1 } };
      const published = await send(owner, "POST", "/api/v1/webhooks/events", event, headers);
      assert.ok(published.status < 300, JSON.stringify(published.json));
      const delivery = await eventually(async () => {
        const { items } = (await send(owner, "GET", `/api/v1/webhooks/deliveries?endpoint_id=${endpoint}`)).json;
        return items.find(({ attempts }: { attempts: number }) => attempts > 0) ?? null;
      });
      return { endpoint, delivery: delivery as { id: string; event_id: string } };
    },

    async newSource(owner: Headers, source: object = {}): Promise<string> {
      const body = { name: "Hub", scheme: "github", secret, ...source };
      return (await send(owner, "POST", "/api/v1/webhooks/sources", body)).json.id;
    },

    /** Posts to a source as its partner. */
    post(sourceId: string, body: string, signedBy = secret) {
      return send({}, "POST", `/ingest/${sourceId}`, body, githubHeaders(signedBy, body));
    },

    async upload(owner: Headers, headers: Headers = {}): Promise<string> {
      const form = photoForm(await readFixture("photo.jpg"));
      const { status, json } = await send(owner, "POST", "/images", form, headers);
      assert.equal(status, 201, JSON.stringify(json));
      return json.id;
    },

    async close(): Promise<void> {
      await system.stop();
      await removeData(system);
      await receiver.close();
      await issuer.close();
    },
  };
}
