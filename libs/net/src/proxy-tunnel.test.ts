import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { systemClock } from "@signalbox/core";
import { type ConnectProxy, createReceiver, type Receiver, startConnectProxy } from "@signalbox/testing";
import { createOutboundClient, type OutboundClient } from "./outbound-client.ts";
import { OutboundError } from "./outbound-error.ts";
import { parseProxy } from "./proxy-tunnel.ts";

let proxy: ConnectProxy;
let receiver: Receiver;
const clients: OutboundClient[] = [];
before(async () => {
  proxy = await startConnectProxy();
  receiver = await createReceiver({ body: "here" });
});
after(async () => {
  for (const client of clients) await client.close();
  proxy.close();
  await receiver.close();
});
beforeEach(() => {
  proxy.asked.length = 0;
  proxy.refusal = null;
});

function clientThrough(proxyUrl: string, options: Partial<Parameters<typeof createOutboundClient>[0]> = {}) {
  const client = createOutboundClient({ allow: ["127.0.0.1:*"], clock: systemClock, proxy: proxyUrl, ...options });
  clients.push(client);
  return client;
}
const own = () => `http://ada:p%40ss@127.0.0.1:${proxy.port}`;
const get = (client: OutboundClient, url: string) => client.request({ url, deadlineMs: 5_000, responseBytesMax: 100 });
const failure = (client: OutboundClient, url: string) =>
  get(client, url).then(
    () => assert.fail("the exchange succeeded"),
    (error: unknown) => error as OutboundError,
  );

test("exchanges go through one reused tunnel to the checked address", async () => {
  const client = clientThrough(own(), { lookup: async () => [{ address: "127.0.0.1", family: 4 }] });
  for (let count = 0; count < 5; count++) {
    assert.equal((await get(client, `http://partner.example:${receiver.port}/`)).body.toString(), "here");
  }
  assert.ok(proxy.asked.length <= 2, `${proxy.asked.length} tunnels`);
  const authorization = `Basic ${Buffer.from("ada:p@ss").toString("base64")}`;
  assert.deepEqual(proxy.asked[0], { target: `127.0.0.1:${receiver.port}`, authorization });
});

test("the proxy never learns of a forbidden target, as an address or behind a name", async () => {
  receiver.clear();
  const literal = await failure(clientThrough(own(), { allow: [] }), `http://127.0.0.1:${receiver.port}/`);
  const lookup = async () => [{ address: "10.0.0.7", family: 4 }];
  const named = await failure(clientThrough(own(), { lookup }), "http://partner.example/");
  assert.deepEqual(
    [literal.stage, named.stage, proxy.asked.length, receiver.requests.length],
    ["forbidden", "forbidden", 0, 0],
  );
});

test("a failure of the proxy is told apart from its target's, without its password", async () => {
  const url = `http://127.0.0.1:${receiver.port}/`;
  const away = await failure(clientThrough("http://ada:secret@127.0.0.1:1"), url);
  assert.deepEqual([away.stage, away.code], ["proxy", "ECONNREFUSED"]);
  const codes = {
    "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n": "unauthorized",
    "HTTP/1.1 502 Bad Gateway\r\n\r\n": "refused",
    "SSH-2.0-OpenSSH_9.6\r\n\r\n": "malformed",
    "": "closed",
  };
  for (const [answer, code] of Object.entries(codes)) {
    proxy.refusal = answer;
    const error = await failure(clientThrough(own()), url);
    assert.ok(error instanceof OutboundError);
    assert.deepEqual([error.stage, error.code], ["proxy", code], answer);
    assert.doesNotMatch(`${error.message} ${error.stack}`, /p@ss|p%40ss|YWRh/);
  }
});

test("an invalid proxy is refused without showing its text", () => {
  for (const text of ["https://ada:secret@proxy:1", "proxy:3128", "http://proxy/path", "socks5://ada:secret@proxy"]) {
    assert.throws(
      () => parseProxy(text),
      (error: Error) => error instanceof RangeError && !error.message.includes("secret"),
      text,
    );
  }
});
