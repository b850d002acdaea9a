import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createReceiver, eventually, type ReceivedRequest } from "@signalbox/testing";
import { createHome, json } from "./call.ts";
import { openTestClient } from "./test-server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const message = (delivery: string, lease: string, attempt: number, body = "{}") => ({
  lease_id: lease,
  delivery_id: delivery,
  event_id: `evt_${delivery}`,
  type: "order.created",
  attempt,
  headers: { "Content-Type": "application/json", "webhook-id": `evt_${delivery}`, Host: "signalbox.example" },
  body,
  body_encoding: "utf8",
});

const stream = (...messages: readonly object[]) => ({
  headers: { "content-type": "text/event-stream" },
  body: messages.map((one) => `: beat\n\nevent: message\ndata: ${JSON.stringify(one)}\n\n`).join(""),
});
const refusal = (code: string, status: number) => json({ error: { code, message: code } }, status);

type Answer = { readonly headers: Readonly<Record<string, string>>; readonly body: string; readonly status?: number };
/** An answer that waits for what was settled before. */
type LaterAnswer = (settled: readonly string[]) => Promise<Answer>;

/** A listener, whose streams and settlements are answered in turn; further streams stay silent. */
async function startListener(
  t: TestContext,
  answers: { readonly streams: readonly (Answer | LaterAnswer)[]; readonly settlements?: readonly Answer[] },
) {
  const streams = [...answers.streams];
  const settlements = [...(answers.settlements ?? [])];
  const settled: string[] = [];
  const signalbox = await createReceiver(answer);
  const local = await createReceiver();
  t.after(() => Promise.all([signalbox.close(), local.close()]));

  async function answer({ path, body }: ReceivedRequest) {
    if (path.endsWith("/listen")) return json({ id: "whe_1", secret: "whsec_1" }, 201);
    if (path.includes("/messages?")) {
      const next = streams.shift() ?? { instead: "hang" as const };
      return typeof next === "function" ? next(settled) : next;
    }
    const [leaseId = ""] = JSON.parse(body.toString()).lease_ids;
    settled.push(`${path.split("/").at(-1)} ${leaseId}`);
    const decision = path.endsWith("/ack") ? "succeeded" : "retry";
    return (
      settlements.shift() ?? json({ items: [{ lease_id: leaseId, decision, next_attempt_at: null, repeated: false }] })
    );
  }
  const stop = new AbortController();
  const { call } = await createHome(t);
  const environment = { SIGNALBOX_URL: signalbox.url, SIGNALBOX_API_KEY: "key" };
  const words = ["listen", "--forward", `${local.url}/hooks`, "--json"];
  const ended = call(words, { environment, stop: stop.signal });
  const end = async () => {
    stop.abort();
    return ended;
  };
  return { signalbox, local, settled, ended, end };
}

test("a message whose success was not heard is settled on return, not forwarded twice", async (t) => {
  const { local, settled, end } = await startListener(t, {
    streams: [stream(message("whd_1", "lease-1", 1)), stream(message("whd_1", "lease-2", 2))],
    settlements: [refusal("conflict", 409)],
  });
  await eventually(() => settled.length === 2);
  const { stdout } = await end();
  assert.deepEqual(settled, ["ack lease-1", "ack lease-2"]);
  assert.equal(local.requests.length, 1);
  assert.equal(stdout.trim().split("\n").length, 1);
});

test("an attempt that somebody asked for after a success is forwarded", async (t) => {
  const { local, settled, end } = await startListener(t, {
    streams: [
      stream(message("whd_1", "lease-1", 1)),
      async (settled) => {
        await eventually(() => settled.length === 1);
        return stream(message("whd_1", "lease-2", 2));
      },
    ],
  });
  await eventually(() => settled.length === 2);
  await end();
  assert.equal(local.requests.length, 2);
});

test("an outcome is told again until Signalbox answers", async (t) => {
  const { settled, end } = await startListener(t, {
    streams: [stream(message("whd_1", "lease-1", 1))],
    settlements: [refusal("unavailable", 503), refusal("unavailable", 503)],
  });
  await eventually(() => settled.length === 3);
  const { exitCode } = await end();
  assert.deepEqual([new Set(settled), exitCode], [new Set(["ack lease-1"]), 0]);
});

test("a webhook is forwarded byte for byte; the answer of the receiver is the attempt", async (t) => {
  const body = '{"text":"\u2028ü"}';
  const { local, settled, end } = await startListener(t, { streams: [stream(message("whd_1", "lease-1", 1, body))] });
  local.answerNext({ status: 302, headers: { location: "/elsewhere" } });
  const { path, headers, body: received } = await local.waitFor(() => true);
  assert.deepEqual([path, received.toString()], ["/hooks", body]);
  assert.deepEqual([headers["webhook-id"], headers.host], ["evt_whd_1", `127.0.0.1:${local.port}`]);
  await eventually(() => settled.length === 1);
  const { stdout } = await end();
  assert.deepEqual(settled, ["nack lease-1"], "a redirect is no success, as for a push");
  const { type, status, attempt } = JSON.parse(stdout);
  assert.deepEqual([type, status, attempt], ["order.created", 302, 1]);
});

test("an endpoint that ended is replaced, with a word on what was missed", async (t) => {
  const { signalbox, local, end } = await startListener(t, {
    streams: [refusal("not_found", 404), stream(message("whd_2", "lease-1", 1))],
  });
  await local.waitFor(() => true);
  const { stderr } = await end();
  assert.match(stderr, /Events since then were not forwarded/);
  assert.equal(signalbox.requests.filter(({ path: one }) => one.endsWith("/listen")).length, 2);
});

test("a refusal that stays one ends the listener with its code", async (t) => {
  const { ended } = await startListener(t, { streams: [refusal("forbidden", 403)] });
  const { exitCode, stderr } = await ended;
  assert.equal(exitCode, 3);
  assert.deepEqual(JSON.parse(stderr.split("\n").at(-2) ?? "").error.code, "forbidden");
});

test("a listener stops long after its stream began", { timeout: 20_000 }, async (t) => {
  const stop = new AbortController();
  const { baseUrl, received } = await openTestClient(t, ({ method }) =>
    method === "POST"
      ? { body: { id: "whe_1", secret: "whsec_1" } }
      : (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
  );
  const { call } = await createHome(t);
  const environment = { SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "key" };
  const ended = call(["listen"], { environment, stop: stop.signal });
  await eventually(() => received.length === 2);
  await sleep(100);
  collectGarbage();
  stop.abort();
  assert.equal((await ended).exitCode, 0);
});

test("only a web address is forwarded to", async (t) => {
  const { call } = await createHome(t);
  for (const given of ["ftp://localhost/x", "file:///etc/passwd", "https://"]) {
    const { exitCode, stderr } = await call(["listen", "--forward", given]);
    assert.equal(exitCode, 2, given);
    assert.match(stderr, /Invalid URL --forward .*: use one such as http:\/\/localhost:3000\/hooks/, given);
  }
});
