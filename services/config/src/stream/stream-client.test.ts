import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { StreamClient } from "./stream-client.ts";

test("a slow client loses its connection once 256 KiB wait for it, and never an event silently", async () => {
  const clients: StreamClient[] = [];
  const { principal, token: value } = testPerson();
  const follower = { principal, credential: { kind: "bearer", value } as const };
  const server = createServer((_request, response) => void clients.push(new StreamClient(follower, response)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  request.on("error", () => {});
  request.on("response", (response) => response.on("error", () => {}).pause());
  const client = await eventually(() => clients[0] ?? null);
  client.goLive();
  const frame = Buffer.from(`event: config\ndata: ${"x".repeat(1_024 * 1_024)}\n\n`);
  await eventually(() => {
    client.send(frame);
    return !client.isOpen;
  });
  request.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
