import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { seconds } from "@signalbox/core";
import { createInternalClient, type InternalClient, sendTwice } from "./internal-client.ts";

/** A service that keeps idle connections for long, and a client of it. */
async function given(t: { after(end: () => unknown): void }, listener: RequestListener) {
  const server = createServer({ keepAliveTimeout: seconds(75) }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client: InternalClient = createInternalClient({
    url,
    headers: () => ({}),
    deadlineMs: seconds(5),
    responseBytesMax: 1_000,
  });
  t.after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return { server, client };
}

test("the client closes an idle connection, even if the service would keep it longer", async (t) => {
  const { server, client } = await given(t, (_request, response) => response.end("{}"));
  const connected = once(server, "connection");
  await client.get("/");
  const [socket] = (await connected) as [Socket];
  await once(socket, "end");
});

for (const [failure, fail] of [
  ["its connection broke", (request) => request.socket.destroy()],
  ["a proxy answered 503", (_request, response) => response.writeHead(503).end()],
] satisfies [string, RequestListener][]) {
  test(`a repeatable request is sent again just once when ${failure}`, async (t) => {
    let isBad = (_count: number): boolean => true;
    let count = 0;
    const { client } = await given(t, (request, response) => {
      if (isBad(++count)) fail(request, response);
      else response.end("{}");
    });
    const ask = () => sendTwice(() => client.post("/", "{}"));
    await ask().catch(() => null);
    assert.equal(count, 2);
    isBad = (asked) => asked === 3;
    assert.equal((await ask()).status, 200);
    assert.equal((await client.get("/")).status, 200);
  });
}
