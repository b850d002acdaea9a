import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { serveRoutes } from "../../test/edge-fixture.ts";
import { ClientGone, readBody } from "../request/read-body.ts";
import { createRoutes } from "../routes/create-routes.ts";
import { noContent } from "../routes/http-response.ts";

const shared = { summary: "x", auth: "anonymous", responses: { 204: "empty" } } as const;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

const closeOf = ({ socket }: IncomingMessage) => new Promise((resolve) => socket.once("close", resolve));

/** Sends the text, and ends the connection once its last request has arrived. */
async function sendAndLeave(port: number, text: string, arrived: Promise<void>): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  await arrived;
  socket.destroy();
}

test("a handler that begins after its client has left sees it at its first look", async (t) => {
  const routes = createRoutes();
  const arrived = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<unknown>();
  routes.get("/poll", {
    ...shared,
    deadlineMs: null,
    handle: async (input) => {
      const closed = closeOf(input.request);
      arrived.resolve();
      await closed;
      seen.resolve(input.signal.aborted && input.signal.reason);
      return noContent();
    },
  });
  const { port } = await serveRoutes(t, routes);
  await sendAndLeave(port, get("/poll"), arrived.promise);
  assert.ok((await seen.promise) instanceof ClientGone);
});

test("a handler in the second place of a connection is aborted when its client leaves", async (t) => {
  const routes = createRoutes();
  const arrived = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  routes.get("/first", {
    ...shared,
    handle: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
  });
  routes.get("/second", {
    ...shared,
    handle: async ({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      arrived.resolve();
      await aborted.promise;
      return noContent();
    },
  });
  const { port } = await serveRoutes(t, routes);
  await sendAndLeave(port, get("/first") + get("/second"), arrived.promise);
  await aborted.promise;
});

test("a body is refused to a reader that begins after its client has left", async (t) => {
  const routes = createRoutes();
  const arrived = Promise.withResolvers<void>();
  const read = Promise.withResolvers<unknown>();
  routes.post("/body", {
    ...shared,
    body: { unread: { maxBytes: 1000, mediaTypes: ["text/plain"] } },
    handle: async ({ request }) => {
      const closed = closeOf(request);
      arrived.resolve();
      await closed;
      await readBody(request, 1000).then(read.resolve, read.resolve);
      return noContent();
    },
  });
  const { port } = await serveRoutes(t, routes);
  const head = "POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n";
  await sendAndLeave(port, `${head}12345`, arrived.promise);
  assert.ok((await read.promise) instanceof ClientGone);
});
