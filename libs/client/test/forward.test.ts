import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, type TestContext, test } from "node:test";
import { createCertificates, type TestCertificates } from "@signalbox/testing";
import { forward } from "../src/command/listen/forward.ts";
import { createHome } from "./call.ts";

let certificates: TestCertificates;
before(async () => {
  certificates = await createCertificates();
});
after(() => certificates.remove());

async function listenOn(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A receiver with the certificate of `localhost`, whose authority no program knows. */
async function openReceiver(t: TestContext, status = 204) {
  const received: { readonly headers: IncomingMessage["headers"]; readonly body: string }[] = [];
  const [cert, key] = await Promise.all([readFile(certificates.certFile), readFile(certificates.keyFile)]);
  const server = createServer({ cert, key }, async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(status).end();
  });
  return { url: `https://localhost:${await listenOn(t, server)}/hooks`, received };
}

async function openFile(t: TestContext, ...lines: readonly unknown[]) {
  const { call, home } = await createHome(t);
  const file = join(home, "events.jsonl");
  await writeFile(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return {
    send: (url: string, ...more: readonly string[]) =>
      call(["listen", "--forward", url, "--load-from", file, "--json", ...more]),
    call,
    file,
  };
}

const recorded = {
  type: "order.created",
  event: "evt_1",
  delivery: "whd_1",
  attempt: 2,
  headers: { "Content-Type": "application/json", "webhook-id": "evt_1", "webhook-signature": "v1,abc" },
  body: Buffer.from('{"text":"ü"}').toString("base64"),
  body_encoding: "base64",
};

test("a certificate of an unknown authority is refused with the options that trust it", async (t) => {
  const { url, received } = await openReceiver(t);
  const { send } = await openFile(t, recorded);
  const { exitCode, stdout } = await send(url);
  assert.match(JSON.parse(stdout).error, /^UNABLE_TO_VERIFY_LEAF_SIGNATURE \(trust it with --ca or --skip-verify\)$/);
  assert.deepEqual([exitCode, received.length], [1, 0]);
});

test("a receiver of an authority that --ca names gets the event", async (t) => {
  const { url, received } = await openReceiver(t);
  const { send } = await openFile(t, recorded);
  assert.equal((await send(url, "--ca", certificates.caFile)).exitCode, 0);
  assert.equal((await send(url, "--ca", certificates.otherCaFile)).exitCode, 1, "another authority is none of its");
  assert.equal(received.length, 1);
});

test("a receiver with any certificate gets the event with --skip-verify", async (t) => {
  const { url, received } = await openReceiver(t);
  const { send } = await openFile(t, recorded);
  assert.equal((await send(url, "--skip-verify")).exitCode, 0);
  assert.equal(received.length, 1);
});

test("a recorded message is sent with its bytes under its headers", async (t) => {
  const { url, received } = await openReceiver(t);
  const { send } = await openFile(t, recorded);
  await send(url, "--skip-verify");
  const [{ headers, body } = assert.fail()] = received;
  assert.deepEqual([body, headers["webhook-signature"], headers["webhook-id"]], ['{"text":"ü"}', "v1,abc", "evt_1"]);
});

test("an event without headers is sent as it is written", async (t) => {
  const { url, received } = await openReceiver(t);
  const line = '{"id":"evt_2", "type":"order.paid", "data":{"total":12345678901234567890}}';
  const { send } = await openFile(t, "", line);
  await send(url, "--skip-verify");
  const [{ headers, body } = assert.fail()] = received;
  assert.deepEqual([body, headers["webhook-id"], headers["content-type"]], [line, "evt_2", "application/json"]);
});

test("events of other types than --events names stay in the file", async (t) => {
  const { url, received } = await openReceiver(t);
  const { send } = await openFile(t, recorded, { id: "evt_2", type: "parcel.sent" });
  await send(url, "--skip-verify", "--events", "parcel.*");
  assert.deepEqual(
    received.map(({ headers }) => headers["webhook-id"]),
    ["evt_2"],
  );
});

test("a line that is no event ends the command with its number", async (t) => {
  const { url } = await openReceiver(t);
  const { send, file } = await openFile(t, recorded, "[1]");
  const { exitCode, stderr } = await send(url, "--skip-verify");
  assert.equal(exitCode, 2);
  assert.match(stderr, new RegExp(`${file}, line 2 is not a JSON object`));
});

test("an event that the receiver refuses fails the command", async (t) => {
  const { url } = await openReceiver(t, 500);
  const { send } = await openFile(t, recorded, recorded);
  const { exitCode, stderr } = await send(url, "--skip-verify");
  assert.equal(exitCode, 1);
  assert.match(stderr, /The receiver did not accept 2 of 2 events/);
});

test("options that contradict each other are refused", async (t) => {
  const { call, file } = await openFile(t, recorded);
  const cases: [readonly string[], RegExp][] = [
    [["--forward", "3000", "--skip-verify"], /need --forward with an https:/],
    [["--ca", certificates.caFile], /need --forward with an https:/],
    [["--forward", "https://localhost:1", "--ca", "/nowhere.pem"], /\/nowhere\.pem is not a readable file/],
    [["--forward", "https://localhost:1", "--ca", certificates.keyFile], /is not a readable file with a certificate/],
    [["--load-from", file], /--load-from needs --forward/],
    [["--load-from", file, "--forward", "3000", "--latest"], /exclude each other/],
    [["--load-from", "/nowhere.jsonl", "--forward", "3000"], /The file \/nowhere\.jsonl cannot be read/],
  ];
  for (const [words, message] of cases) {
    const { exitCode, stderr } = await call(["listen", ...words]);
    assert.equal(exitCode, 2, words.join(" "));
    assert.match(stderr, message);
  }
});

const message = { headers: {}, body: "{}", body_encoding: "utf8" as const };
const nowMs = () => 0;

test("a handshake that never ends fails after the time to connect", async (t) => {
  const port = await listenOn(t, createTcpServer());
  const receiver = { url: new URL(`https://localhost:${port}/`), connection: {} };
  const answer = await forward(receiver, message, { timeoutMs: 60_000, nowMs, connectMsMax: 50 });
  assert.deepEqual([answer.status, answer.error], [null, "CONNECT_TIMEOUT"]);
});

async function openPlain(t: TestContext, answer: RequestListener) {
  const server = createHttpServer(answer);
  t.after(() => server.closeAllConnections());
  return { url: new URL(`http://localhost:${await listenOn(t, server)}/`), connection: {} };
}

test("a body that falls silent leaves its status as the answer", async (t) => {
  const receiver = await openPlain(t, (_, response) => response.writeHead(200).write("half"));
  const { status, body } = await forward(receiver, message, { timeoutMs: 60_000, nowMs, silenceMsMax: 50 });
  assert.deepEqual([status, body], [200, "half"]);
});

test("a receiver that thinks for longer than the time to connect still answers", async (t) => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const receiver = await openPlain(t, (_, response) => arrived.resolve(response));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const answer = forward(receiver, message, { timeoutMs: 60_000, nowMs, connectMsMax: 1_000 });
  const response = await arrived.promise;
  t.mock.timers.tick(2_000);
  response.writeHead(204).end();
  assert.equal((await answer).status, 204);
});
