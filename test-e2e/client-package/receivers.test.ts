import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { findEvent } from "@signalbox/contracts";
import { deliveryHeaders } from "@signalbox/webhook-signatures";
import { app as expressApp } from "./receivers/express.ts";
import { app as fastifyApp } from "./receivers/fastify.ts";
import { handled, secret } from "./receivers/handle.ts";
import { app as honoApp } from "./receivers/hono.ts";
import { handler } from "./receivers/lambda.ts";
import { POST } from "./receivers/next.ts";

const page = new URL("../../docs/how-to/verify-deliveries.md", import.meta.url);

interface Answer {
  readonly status: number;
  readonly error?: string;
}
type Post = (headers: Record<string, string>, body: Buffer) => Promise<Answer>;

const answerOf = (status: number, body: string | undefined): Answer => ({
  status,
  ...(body && { error: JSON.parse(body).error }),
});
const asRequest = (headers: Record<string, string>, body: Buffer) =>
  new Request("https://receiver.example/webhooks", { method: "POST", headers, body: new Uint8Array(body) });

/** Posts over a real connection. */
async function postTo(listener: Parameters<typeof createServer>[1], headers: Record<string, string>, body: Buffer) {
  const server = createServer(listener as never).listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    return await new Promise<Answer>((resolve, reject) => {
      const sent = httpRequest({ port, host: "127.0.0.1", path: "/webhooks", method: "POST", headers }, (answer) =>
        text(answer).then((content) => resolve(answerOf(answer.statusCode ?? 0, content)), reject),
      );
      sent.once("error", reject).end(body);
    });
  } finally {
    server.close();
  }
}

const receivers: Readonly<Record<string, Post>> = {
  express: (headers, body) => postTo(expressApp as never, headers, body),
  fastify: async (headers, body) => {
    const answer = await fastifyApp.inject({ method: "POST", url: "/webhooks", headers, payload: body });
    return answerOf(answer.statusCode, answer.body);
  },
  hono: async (headers, body) => {
    const answer = await honoApp.request(asRequest(headers, body));
    return answerOf(answer.status, await answer.text());
  },
  next: async (headers, body) => {
    const answer = await POST(asRequest(headers, body));
    return answerOf(answer.status, await answer.text());
  },
  lambda: async (headers, body) => {
    const answer = await handler({ headers, body: body.toString("base64"), isBase64Encoded: true });
    return answerOf(answer.statusCode, answer.body);
  },
};

let delivered = 0;
/** A delivery as Signalbox sends it, with spaces that no serializer would write again. */
function delivery() {
  const eventId = `evt_${++delivered}`;
  const event = { id: eventId, type: "image.created", created_at: "2026-01-01T00:00:00.000Z" };
  const data = findEvent("image.created")?.example;
  const body = Buffer.from(JSON.stringify({ ...event, data, api_version: "v1", account_id: "acc_1" }, null, " \t"));
  const [timestampSeconds, secrets] = [Math.floor(Date.now() / 1000), [secret]];
  const signed = { eventId, eventType: event.type, deliveryId: "whd_1", timestampSeconds, body, secrets };
  return { headers: { ...deliveryHeaders(signed), "content-type": "application/json" }, body };
}

for (const [name, post] of Object.entries(receivers)) {
  test(`${name}: the receiver on the page handles a genuine delivery once, but none with a wrong byte`, async () => {
    const { headers, body } = delivery();
    handled.length = 0;
    assert.deepEqual([await post(headers, body), await post(headers, body)], [{ status: 204 }, { status: 204 }]);
    assert.deepEqual(handled, ["harbour.jpg is 3000 pixels wide"]);

    const other = Buffer.from(body);
    other[body.length - 2] = (other[body.length - 2] as number) ^ 1;
    assert.deepEqual(await post(headers, other), { status: 400, error: "signature_mismatch" });
    assert.deepEqual(await post({ "content-type": "application/json" }, body), {
      status: 400,
      error: "signature_missing",
    });
    assert.equal(handled.length, 1);

    const code = await readFile(new URL(`./receivers/${name}.ts`, import.meta.url), "utf8");
    assert.ok((await readFile(page, "utf8")).includes(code.trimEnd()), `${name}.ts is on the page`);
  });
}
