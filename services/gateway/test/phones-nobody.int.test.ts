import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { after, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

const addresses = new Set<string>();
// Node tells of every client socket; a name that does not resolve is an attempt too.
channel("net.client.socket").subscribe((message) => {
  const { socket } = message as { socket: import("node:net").Socket };
  socket.on("lookup", (_error, address, _family, host) => void addresses.add(address ?? host));
  socket.on("connectionAttempt", (ip) => void addresses.add(ip));
});

let gateway: Harness | undefined;
after(() => gateway?.close());

test("a gateway connects to nothing that is not configured", async () => {
  gateway = await startGateway();
  assert.equal((await gateway.query(testPerson(), "{ viewer { id } }")).status, 200);
  assert.ok(addresses.size > 0, "the subgraphs were called");
  // A path is the Unix socket of PostgreSQL.
  const isOfThisMachine = (address: string) =>
    ["127.0.0.1", "::1", "localhost"].includes(address) || address[0] === "/";
  assert.deepEqual(
    [...addresses].filter((address) => !isOfThisMachine(address)),
    [],
  );
});
