import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, test } from "node:test";
import { createManualClock, isAppError, seconds } from "@signalbox/core";
import type { Principal } from "./principal.ts";
import { createPrincipalClient } from "./principal-client.ts";
import { answerFromPrincipal, principalsPath } from "./principal-protocol.ts";

const principal: Principal = {
  accountId: "acc_1",
  state: "active",
  epoch: 3,
  scopes: new Set(["images:read"]),
  roles: ["owner"],
  credential: { kind: "token", id: "jti:corp:1", authTimeMs: 1_700_000_000_000 },
  expiresAt: new Date("2026-01-01T01:00:00.000Z"),
};
const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

/** Starts an account service with the answers of the test, at a path prefix as in the embedded mode. */
async function given(listener: RequestListener, deadlineMs = 5_000) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closes.push(() => server.close());
  const clock = createManualClock();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/account`;
  const runner = { defer: (_name: string, close: () => unknown) => void closes.push(close) };
  return { clock, client: createPrincipalClient({ url, token: "internal", clock, runner, deadlineMs }) };
}

const credential = { kind: "bearer", value: "abc" } as const;
const unavailable = (error: unknown) => isAppError(error) && error.code === "unavailable";

test("the answer of account arrives as the original principal", async () => {
  const { client } = await given((request, response) => {
    assert.equal(request.url, `/account${principalsPath}`);
    assert.equal(request.headers["x-signalbox-internal-token"], "internal");
    response.end(JSON.stringify(answerFromPrincipal(principal)));
  });
  assert.deepEqual(await client.resolve(credential), principal);
});

test("the token of a client arrives with both of its names", async () => {
  const credentialOf = { kind: "client", id: "cli_1", tokenId: "jti:signalbox:1", authTimeMs: null } as const;
  const ofClient = { ...principal, credential: credentialOf };
  const { client } = await given((_request, response) => response.end(JSON.stringify(answerFromPrincipal(ofClient))));
  assert.deepEqual(await client.resolve(credential), ofClient);
});

test("a token of another issuer arrives with its issue time", async () => {
  const issued = { ...principal, credential: { ...principal.credential, issuedAtMs: 1_700_000_000_000 } };
  const { client } = await given((_request, response) => response.end(JSON.stringify(answerFromPrincipal(issued))));
  assert.deepEqual(await client.resolve(credential), issued);
});

test("a blocked account arrives with its state change, reason included", async () => {
  const stateChange = { atMs: 1_700_000_000_000, reason: "Unpaid." };
  const blocked: Principal = { ...principal, state: "suspended", stateChange };
  const { client } = await given((_request, response) => response.end(JSON.stringify(answerFromPrincipal(blocked))));
  assert.deepEqual(await client.resolve(credential), blocked);
});

test("a credential that account refuses is unauthorized, with account's own sentence", async () => {
  const { client } = await given((_request, response) => {
    response.statusCode = 422;
    response.end('{"error":{"code":"validation_error","message":"It has expired."}}');
  });
  await assert.rejects(
    client.resolve(credential),
    (error) => isAppError(error) && error.code === "unauthorized" && error.message === "It has expired.",
  );
});

test("a question is repeated once when an instance of account disappears", async () => {
  let asked = 0;
  const { client } = await given((request, response) => {
    if (++asked === 1) request.socket.destroy();
    else response.end(JSON.stringify(answerFromPrincipal(principal)));
  });
  assert.deepEqual(await client.resolve(credential), principal);
});

test("a caller is told what account lacks", async () => {
  const message = "The key of this token cannot be read from its issuer now.";
  const { client } = await given((_request, response) =>
    response.writeHead(503).end(JSON.stringify({ error: { code: "unavailable", message } })),
  );
  await assert.rejects(client.resolve(credential), (error) => unavailable(error) && String(error).includes(message));
});

for (const status of [401, 404, 500, 503]) {
  test(`an answer ${status} of account never reads as a bad credential`, async () => {
    const { client } = await given((_request, response) => {
      response.statusCode = status;
      response.end("{}");
    });
    await assert.rejects(client.resolve(credential), unavailable);
  });
}

test("a hanging account service is left alone for a second", async () => {
  let asked = 0;
  const { client, clock } = await given((_request, response) => {
    asked++;
    if (asked > 1) response.end(JSON.stringify(answerFromPrincipal(principal)));
  }, 2_000);
  await assert.rejects(client.resolve(credential), unavailable);
  await assert.rejects(client.resolve(credential), unavailable);
  assert.equal(asked, 1);
  clock.advance(seconds(1));
  await client.resolve(credential);
});

test("an unreadable answer leads to a retry", async () => {
  const { client } = await given((_request, response) => response.end('{"account_id":"acc_1","scopes":"all"}'));
  await assert.rejects(client.resolve(credential), unavailable);
});
