import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scope } from "@signalbox/contracts";
import { AppError, isAppError } from "@signalbox/core";
import { createManagementAuthorizer } from "./management-authorizer.ts";
import type { Principal } from "./principal.ts";

/** Creates an authorizer whose callers have these scopes; `null` is an account service that is away. */
function given(
  scopes: readonly Scope[] | null,
  state: Principal["state"] = "active",
  countFailure: (address: string) => void = () => {},
) {
  const authorize = createManagementAuthorizer({
    async authenticate({ value }) {
      if (scopes === null) throw new AppError("unavailable", "away");
      if (value !== "good") throw new AppError("unauthorized", "no");
      const credential = { kind: "api-key", id: "key_1", authTimeMs: null } as const;
      return { accountId: "acc_1", state, epoch: 0, scopes: new Set(scopes), roles: [], credential, expiresAt: null };
    },
    countFailure,
    recordRead: () => {},
  });
  return async (headers: Record<string, string>) => {
    const decision = await authorize(headers, "192.0.2.1");
    if (typeof decision === "string") return decision;
    return decision.isOperator ? "operator" : "ok";
  };
}

const basic = (password: string) => `Basic ${Buffer.from(`operator:${password}`).toString("base64")}`;

test("management:read opens the environment by key, Bearer and Basic", async () => {
  const authorize = given(["management:read"]);
  for (const headers of [{ "x-api-key": "good" }, { authorization: "Bearer good" }, { authorization: basic("good") }]) {
    assert.equal(await authorize(headers), "ok");
  }
});

test("a caller without valid credentials is unauthorized", async () => {
  const authorize = given(["management:read"]);
  const twice = { "x-api-key": "good", authorization: "Bearer good" };
  for (const headers of [{}, { "x-api-key": "bad" }, { authorization: "Bearer" }, twice]) {
    assert.equal(await authorize(headers), "unauthorized");
  }
});

test("a lacking scope or a blocked account is forbidden", async () => {
  assert.equal(await given(["config:read"])({ "x-api-key": "good" }), "forbidden");
  assert.equal(await given(["management:read"], "disabled")({ "x-api-key": "good" }), "forbidden");
});

test("an outage of the account service is shown as unavailable", async () => {
  await assert.rejects(
    given(null)({ "x-api-key": "good" }),
    (error) => isAppError(error) && error.code === "unavailable",
  );
});

test("a caller with config:admin is an operator", async () => {
  assert.equal(await given(["management:read", "config:admin"])({ "x-api-key": "good" }), "operator");
});

test("only wrong credentials are counted by address", async () => {
  const counted: string[] = [];
  const authorize = given(["management:read"], "active", (address) => {
    counted.push(address);
    if (counted.length > 1) throw new AppError("rate_limited", "wait", { retryAfterSeconds: 7 });
  });
  assert.equal(await authorize({}), "unauthorized");
  assert.equal(await authorize({ "x-api-key": "bad" }), "unauthorized");
  await assert.rejects(
    authorize({ "x-api-key": "bad" }),
    (error) => isAppError(error) && error.code === "rate_limited",
  );
  assert.equal(await authorize({ "x-api-key": "good" }), "ok");
  assert.deepEqual(counted, ["192.0.2.1", "192.0.2.1"]);
});
