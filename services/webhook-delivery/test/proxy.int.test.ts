import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { systemClock } from "@signalbox/core";
import { createOutboundClient } from "@signalbox/net";
import { sql } from "@signalbox/storage";
import {
  type ConnectProxy,
  createCertificates,
  createReceiver,
  eventually,
  type Receiver,
  startConnectProxy,
  startFrameReceiver,
  testPerson,
} from "@signalbox/testing";
import { endpointsPath, type Harness, startDelivery } from "./harness.ts";

let delivery: Harness;
let proxy: ConnectProxy;
let receiver: Receiver;
before(async () => {
  proxy = await startConnectProxy();
  const url = `http://ada:password-of-the-proxy@127.0.0.1:${proxy.port}`;
  delivery = await startDelivery({ "webhook-delivery.outbound.proxy": url });
  receiver = await createReceiver();
});
after(async () => {
  await delivery.close();
  await receiver.close();
  proxy.close();
});
beforeEach(() => {
  proxy.refusal = null;
  receiver.clear();
});

/** Ends the leases of deliveries that could not be sent, which are due again afterwards. */
const endLeases = () =>
  delivery.pool.query(
    sql("", "update delivery_queue set due_at = statement_timestamp(), leased_by = null where due_at < 'infinity'"),
  );

test("deliveries go through the proxy, and its faults count as no attempt", async () => {
  const who = testPerson();
  const endpoint = await delivery.newEndpoint(who, { url: receiver.url });
  proxy.refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
  await delivery.createImage(who.accountId);
  await eventually(() => proxy.asked.length > 0);
  for (const refusal of ["HTTP/1.1 502 Bad Gateway\r\n\r\n", ""]) {
    proxy.refusal = refusal;
    const before = proxy.asked.length;
    await eventually(async () => {
      await endLeases();
      return proxy.asked.length > before;
    });
  }
  const [waiting] = await delivery.deliveriesOf(who);
  assert.deepEqual([waiting?.status, waiting?.attempts, waiting?.last_error], ["pending", 0, null]);
  assert.deepEqual(await delivery.attemptsOf(who, waiting?.id ?? ""), []);
  const tested = await delivery.send(who, "POST", `${endpointsPath}/${endpoint.id}/test`);
  assert.equal(tested.status, 503);

  proxy.refusal = null;
  await eventually(async () => {
    await endLeases();
    return (await delivery.deliveriesOf(who, "&status=succeeded&type=image.created")).length === 1;
  });
  const [made] = await delivery.attemptsOf(who, waiting?.id ?? "");
  assert.deepEqual([made?.number, made?.status], [1, 200]);
  const { target, authorization } = proxy.asked[0] ?? {};
  assert.equal(target, `127.0.0.1:${receiver.port}`);
  assert.equal(authorization, `Basic ${Buffer.from("ada:password-of-the-proxy").toString("base64")}`);
  assert.doesNotMatch(JSON.stringify(delivery.context.logged), /password-of-the-proxy/);
});

test("through the tunnel, too, certificate and protocol are checked at the receiver", async () => {
  const certificates = await createCertificates();
  const [cert, key, ca] = await Promise.all(
    [certificates.certFile, certificates.keyFile, certificates.caFile].map((file) => readFile(file, "utf8")),
  );
  const pair = { cert: cert ?? "", key: key ?? "" };
  const server = createServer(pair, (_request, response) => response.end("here"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const shared = await startFrameReceiver(pair, ({ head, socket }) =>
    head("200", [["x-protocol", String(socket.alpnProtocol)]], true),
  );
  const through = async (target: string, certificateAuthorities: readonly string[], http2 = false) => {
    const client = createOutboundClient({
      allow: ["127.0.0.1:*"],
      clock: systemClock,
      certificateAuthorities,
      http2,
      proxy: `http://127.0.0.1:${proxy.port}`,
    });
    const answer = client.request({ url: target, deadlineMs: 30_000, responseBytesMax: 100 });
    return answer.finally(() => client.close());
  };
  assert.equal((await through(url, [ca ?? ""])).body.toString(), "here");
  assert.equal((await through(shared.url, [ca ?? ""], true)).headers["x-protocol"], "h2");
  await assert.rejects(through(shared.url, [], true), { stage: "tls", code: "certificate" });
  await assert.rejects(through(url, []), { stage: "tls", code: "certificate" });
  shared.close();
  server.closeAllConnections();
  server.close();
  await certificates.remove();
});
