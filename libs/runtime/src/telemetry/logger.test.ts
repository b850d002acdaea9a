import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { createLogger, createTracer } from "../index.ts";
import type { LogLevel } from "./logger.ts";

function capture(level: LogLevel = "info") {
  const texts: string[] = [];
  const log = createLogger({
    service: "account",
    instance: "account_1",
    level,
    clock: createManualClock(new Date("2026-02-03T04:05:06.007Z")),
    destination: { write: (line) => void texts.push(line) },
  });
  const lines = () => texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  return { log, texts, lines };
}

test("a line has time, service, instance, trace and message", () => {
  const { log, lines } = capture();
  const traceparent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
  createTracer("account").withTraceparent(traceparent, () => log.info({ status: 200 }, "Request"));
  assert.deepEqual(lines(), [
    {
      level: "info",
      time: "2026-02-03T04:05:06.007Z",
      service: "account",
      instance: "account_1",
      trace_id: "0123456789abcdef0123456789abcdef",
      span_id: "0123456789abcdef",
      status: 200,
      msg: "Request",
    },
  ]);
});

test("the names of fields have one spelling, in children as well", () => {
  const { log, lines } = capture();
  log.child({ requestId: "r-1" }).info({ durationMs: 3, request_id2: true, headers: { userAgent: "x" } }, "Request");
  const [{ request_id, duration_ms, request_id2, headers } = {}] = lines();
  assert.deepEqual([request_id, duration_ms, request_id2, headers], ["r-1", 3, true, { userAgent: "x" }]);
});

const secret = "Zq7Wm2Kd9Rt4Xv6Bn1Hs";
const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.${secret}`;

const secretFields: Record<string, object> = {
  "a password": { password: secret },
  "a nested password": { database: { pool: [{ password: secret }] } },
  "an authorization header": { headers: { authorization: `Negotiate ${secret}` } },
  "a raw header in capitals": { Authorization: `Digest ${secret}` },
  "a cookie": { "set-cookie": [`session=${secret}`] },
  "an API key header": { "x-api-key": secret },
  "a camel-case key": { apiKey: secret, privateKey: secret, clientSecret: secret, accessToken: secret },
  "an API key by its looks": { note: `used sbx_live_${secret}` },
  "a webhook secret by its looks": { note: `whsec_${secret}` },
  "a bearer token by its looks": { note: `sent Bearer ${secret}` },
  "a JSON Web Token by its looks": { note: jwt },
  "credentials in a URL": { target: `postgres://user:${secret}@db/account` },
  "credentials in a URL object": { target: new URL(`https://user:${secret}@example.com/`) },
  "a token in a query string": { path: `/callback?code=1&access_token=${secret}` },
  "a private key": { pem: `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----` },
  "an error message": { error: new Error(`could not connect to redis://:${secret}@cache:6379`) },
  "the cause of an error": { error: new Error("failed", { cause: new Error(`Bearer ${secret}`) }) },
  "an error that holds several": { error: new AggregateError([new Error(`Bearer ${secret}`)], "all failed") },
  "a database's detail of a row": { error: Object.assign(new Error("duplicate"), { detail: `(token)=(${secret})` }) },
  "a map": { map: new Map([["secret", secret]]) },
  bytes: { body: Buffer.from(secret) },
};

for (const [kind, fields] of Object.entries(secretFields)) {
  test(`${kind} never reaches a line, neither as a field nor through a child`, () => {
    const { log, texts } = capture();
    log.info(fields, "Something happened");
    log.child(fields).info("Something happened");
    assert.equal(texts.length, 2);
    const encodings = [secret, Buffer.from(secret).toString("base64"), String([...Buffer.from(secret)])];
    for (const text of texts) for (const encoding of encodings) assert.ok(!text.includes(encoding), text);
  });
}

test("a secret in the sentence itself never reaches a line", () => {
  const { log, texts } = capture();
  log.warn(`Could not reach https://user:${secret}@example.com/`);
  log.warn({}, `Token ${jwt} was refused`);
  assert.ok(!texts.join("").includes(secret));
});

test("ordinary fields with harmless names stay readable", () => {
  const { log, lines } = capture();
  log.info({ key: "img_1", token_count: 3, tokens: 12, path: "/images?width=320" }, "Request");
  const { key, token_count, tokens, path } = lines()[0] as Record<string, unknown>;
  assert.deepEqual(
    { key, token_count, tokens, path },
    { key: "img_1", token_count: 3, tokens: 12, path: "/images?width=320" },
  );
});

test("values without a JSON form do not break a line", () => {
  const { log, lines } = capture();
  const circular: Record<string, unknown> = { big: 12n, missing: undefined, call: () => 1, when: new Date(Number.NaN) };
  circular.self = circular;
  log.info(circular, "Odd");
  assert.equal(lines()[0]?.big, "12");
  assert.equal(lines()[0]?.when, null);
});

test("the level changes immediately for the logger and its children", () => {
  const { log, lines } = capture("warn");
  const child = log.child({ part: "relay" });
  child.info("unseen");
  log.setLevel("debug");
  child.debug("seen");
  assert.equal(child.isEnabled("debug"), true);
  log.setLevel("silent");
  child.error("unseen");
  assert.deepEqual(
    lines().map(({ msg, part }) => [msg, part]),
    [["seen", "relay"]],
  );
});
