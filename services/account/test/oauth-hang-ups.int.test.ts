import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, mock, test } from "node:test";
import { eventually } from "@signalbox/testing";
import type { Harness } from "./harness.ts";
import { startIssuer } from "./oauth-fixture.ts";

let account: Harness;
const printed = (["error", "warn", "info", "log"] as const).map((level) => mock.method(console, level, () => {}));
before(async () => {
  account = await startIssuer();
});
after(() => account.close());

const lines = () => account.context.logged.filter(({ level }) => level === "error");

/** Sends bytes of a request and resets the connection after some milliseconds. */
async function hangUp(bytes: string, afterMs: number): Promise<void> {
  const socket = connect({ port: Number(new URL(account.url).port), host: "127.0.0.1" });
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  setTimeout(() => socket.resetAndDestroy(), afterMs);
  await new Promise((resolve) => socket.once("close", resolve));
}

const form = "application/x-www-form-urlencoded";
const whole = "grant_type=client_credentials&client_id=none&client_secret=none";
const post = (path: string, length: number, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: ${length}\r\n\r\n${body}`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const requests = [
  post("/oauth/token", whole.length, whole),
  post("/oauth/token", 900, whole),
  post("/oauth/authorize", 900, "client_id=none"),
  post("/oauth/device", 900, "user_code=none"),
  post("/oauth/end-session/confirm", 900, "logout=yes"),
  get("/oauth/authorize?client_id=none&response_type=code"),
  get("/oauth/.well-known/openid-configuration"),
  get("/oauth/jwks"),
];

test("clients that hang up leave neither an error nor a line outside of the log", async () => {
  for (let afterMs = 0; afterMs < 6; afterMs++) {
    await Promise.all(requests.map((bytes) => hangUp(bytes, afterMs)));
  }
  await eventually(() =>
    account.context.logged.some(({ msg }) => msg === "a client disconnected before the issuer responded"),
  );
  assert.deepEqual(
    printed.flatMap(({ mock: { calls } }) => calls.map(({ arguments: [first] }) => String(first))),
    [],
  );
  assert.deepEqual(lines(), []);
});
