import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError, createManualClock, hours, isAppError, minutes, seconds } from "@signalbox/core";
import { createMetrics } from "@signalbox/runtime";
import { serviceWith } from "@signalbox/testing";
import { type AccessEntry, type AccessStates, createAccessTable } from "./access-states.ts";
import { createApiKey } from "./api-key.ts";
import { createAuthenticator } from "./authenticator.ts";
import type { PresentedCredential } from "./credential.ts";
import type { Principal, PrincipalSource } from "./principal.ts";

const credential: PresentedCredential = { kind: "bearer", value: "header.payload.signature" };
const unauthorized = (error: unknown) => isAppError(error) && error.code === "unauthorized";
const unavailable = (error: unknown) => isAppError(error) && error.code === "unavailable";

/** Creates an authenticator whose source answers as the test decides, and counts its questions. */
function given() {
  const clock = createManualClock();
  const table = createAccessTable();
  const world = {
    clock,
    asked: 0,
    caughtUp: true,
    heardMsAgo: 0,
    answer: (): Principal => principalOf({ state: "active", epoch: 1 }),
    changeAccount: (entry: Partial<AccessEntry> & Pick<AccessEntry, "state" | "epoch">) =>
      table.apply({ kind: "account", id: "acc_1", accountId: "acc_1", notBeforeMs: null, ...entry }),
    changePerson: (entry: Pick<AccessEntry, "state" | "epoch">) =>
      table.apply({ kind: "account", id: "acc_person", accountId: "acc_person", notBeforeMs: null, ...entry }),
    revoke: (id: string) => table.apply({ kind: "credential", id, accountId: "acc_1", epoch: 1, revoked: true }),
    changeKey: (epoch: number) =>
      table.apply({ kind: "credential", id: "jti:corp:1", accountId: "acc_1", epoch, revoked: false }),
  };
  const principals = serviceWith<PrincipalSource>({
    async resolve() {
      world.asked++;
      await new Promise((resolve) => setImmediate(resolve));
      return world.answer();
    },
  });
  const accessStates = serviceWith<AccessStates>({
    ...table,
    isCaughtUp: () => world.caughtUp,
    isBehind: () => world.heardMsAgo > 2_000,
  });
  const metrics = createMetrics({ service: "images" });
  return { ...createAuthenticator({ principals, accessStates, clock, metrics, cacheMax: 100 }), world, metrics };
}

function principalOf(entry: Pick<AccessEntry, "state" | "epoch">, expiresAt: Date | null = null): Principal {
  const credentialOf = { kind: "token", id: "jti:corp:1", authTimeMs: null } as const;
  return { accountId: "acc_1", ...entry, scopes: new Set(), roles: [], credential: credentialOf, expiresAt };
}

const away = (): never => {
  throw new AppError("unavailable", "away", { retryAfterSeconds: 2 });
};

test("a credential is resolved once, however many requests carry it", async () => {
  const { authenticate, world } = given();
  await Promise.all(Array.from({ length: 50 }, () => authenticate(credential)));
  await authenticate(credential);
  assert.equal(world.asked, 1);
});

test("a credential that was accepted as a Bearer token is judged again as an API key or a password", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.answer = () => {
    throw new AppError("unauthorized", "This is not an API key.");
  };
  for (const kind of ["api-key", "basic"] as const) {
    await assert.rejects(authenticate({ ...credential, kind }), unauthorized);
  }
  await authenticate(credential);
});

test("every credential is refused before the access states are read", async () => {
  const { authenticate, world } = given();
  world.caughtUp = false;
  await assert.rejects(authenticate(credential), unavailable);
  assert.equal(world.asked, 0);
});

test("a mistyped API key is refused as mistyped without a look-up", async () => {
  const { authenticate, world } = given();
  await assert.rejects(authenticate({ kind: "api-key", value: `${createApiKey("dev")}x` }), unauthorized);
  const key = createApiKey("dev");
  const wrong = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
  for (const kind of ["api-key", "bearer", "basic"] as const) {
    await assert.rejects(authenticate({ kind, value: wrong }), /mistyped/);
  }
  assert.equal(world.asked, 0);
});

test("a remembered principal ends with its credential", async () => {
  const { authenticate, world } = given();
  const expiresAt = new Date(world.clock.nowMs() + minutes(1));
  world.answer = () => principalOf({ state: "active", epoch: 1 }, expiresAt);
  await authenticate(credential);
  world.clock.advance(minutes(1));
  await assert.rejects(authenticate(credential), unauthorized);
});

test("a suspension holds for a remembered principal at once, even while account is away", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.answer = away;
  world.changeAccount({ state: "suspended", epoch: 2 });
  const { state, epoch } = await authenticate(credential);
  assert.deepEqual({ state, epoch }, { state: "suspended", epoch: 2 });
});

test("an access change makes the remembered principal be resolved again, once", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.changeAccount({ state: "active", epoch: 2 });
  world.answer = () => ({ ...principalOf({ state: "active", epoch: 2 }), roles: ["admin"] });
  assert.deepEqual((await authenticate(credential)).roles, ["admin"]);
  await authenticate(credential);
  assert.equal(world.asked, 2);
  world.changeKey(1);
  await authenticate(credential);
  assert.equal(world.asked, 3);
});

test("the newest state counts when the answer is older than the change", async () => {
  const { authenticate, world } = given();
  world.changeAccount({ state: "deleted", epoch: 9 });
  assert.equal((await authenticate(credential)).state, "deleted");
});

test("a revoked credential is refused although it is remembered", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.revoke("jti:corp:1");
  await assert.rejects(authenticate(credential), unauthorized);
});

test("a principal is remembered only as long as it would be admitted without a question", async () => {
  const { authenticate, remembered, world } = given();
  assert.equal(remembered(credential), null, "never seen");
  world.answer = () => principalOf({ state: "active", epoch: 1 }, new Date(world.clock.nowMs() + minutes(2)));
  const principal = await authenticate(credential);
  assert.deepEqual(remembered(credential), principal);
  assert.equal(remembered({ ...credential, kind: "basic" }), null, "another kind of credential");
  world.caughtUp = false;
  assert.equal(remembered(credential), null, "the access states are not read");
  world.caughtUp = true;
  world.clock.advance(minutes(2));
  assert.equal(remembered(credential), null, "expired");
  world.clock.advance(-minutes(2));
  world.changeAccount({ state: "suspended", epoch: 2 });
  assert.equal(remembered(credential), null, "its account changed");
  world.answer = () => principalOf({ state: "suspended", epoch: 2 });
  await authenticate(credential);
  assert.equal(remembered(credential)?.state, "suspended");
  world.revoke("jti:corp:1");
  assert.equal(remembered(credential), null, "revoked");
  assert.equal(world.asked, 2);
});

test("a change during the look-up leads to one more, for all waiting requests", async () => {
  const { authenticate, world } = given();
  world.answer = () => {
    world.changeAccount({ state: "active", epoch: 2 });
    return principalOf({ state: "active", epoch: world.asked });
  };
  const found = await Promise.all([authenticate(credential), authenticate(credential)]);
  assert.deepEqual([found.map(({ epoch }) => epoch), world.asked], [[2, 2], 2]);
  await authenticate(credential);
  assert.equal(world.asked, 2);
});

test("while the state topic is silent, account is asked again every two seconds", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.heardMsAgo = seconds(60);
  world.clock.advance(seconds(2));
  await authenticate(credential);
  assert.equal(world.asked, 1, "the knowledge is two seconds old");
  world.clock.advance(1);
  world.answer = () => {
    throw new AppError("unauthorized", "It is revoked.");
  };
  await assert.rejects(authenticate(credential), unauthorized);
  assert.equal(world.asked, 2);
});

test("while the state topic is read, account is not asked again", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.heardMsAgo = seconds(2);
  world.clock.advance(seconds(30));
  await authenticate(credential);
  assert.equal(world.asked, 1);
});

test("remembered principals keep working, with few questions, while state topic and account are away", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  [world.heardMsAgo, world.answer] = [seconds(60), away];
  world.clock.advance(seconds(3));
  await authenticate(credential);
  world.clock.advance(seconds(4));
  await authenticate(credential);
  assert.equal(world.asked, 2);
  world.clock.advance(seconds(2));
  await authenticate(credential);
  assert.equal(world.asked, 3);
});

test("signing out everywhere ends exactly the tokens issued up to that second", async () => {
  const { authenticate, world } = given();
  const signedOutMs = Date.parse("2026-01-01T10:00:00.300Z");
  const issued = (issuedAtMs?: number) => () => {
    const principal = principalOf({ state: "active", epoch: 1 });
    return { ...principal, credential: { ...principal.credential, ...(issuedAtMs !== undefined && { issuedAtMs }) } };
  };
  const tokens = { before: signedOutMs - 300, timeless: 0, after: signedOutMs + 700, own: undefined };
  const present = (name: string) => authenticate({ kind: "bearer", value: name });
  for (const [name, issuedAtMs] of Object.entries(tokens)) {
    world.answer = issued(issuedAtMs);
    await present(name);
  }
  world.answer = away;
  world.changeAccount({ state: "active", epoch: 2, notBeforeMs: signedOutMs });
  for (const name of ["before", "timeless"]) await assert.rejects(present(name), unauthorized);
  for (const name of ["after", "own"]) assert.equal((await present(name)).accountId, "acc_1");
});

test("the reason of an earlier state is not told for a later one that only the topic knows", async () => {
  const { authenticate, world } = given();
  const stateChange = { atMs: 1_700_000_000_000, reason: "Paid." };
  world.answer = () => ({ ...principalOf({ state: "active", epoch: 1 }), stateChange });
  assert.equal((await authenticate(credential)).stateChange, stateChange);
  world.answer = away;
  world.changeAccount({ state: "suspended", epoch: 2, notBeforeMs: null });
  const { state, stateChange: told } = await authenticate(credential);
  assert.deepEqual([state, told], ["suspended", undefined]);
});

test("one token of a client is revoked without the client", async () => {
  const { authenticate, world } = given();
  const ofToken = (tokenId: string) => () => ({
    ...principalOf({ state: "active", epoch: 1 }),
    credential: { kind: "client" as const, id: "cli_1", tokenId, authTimeMs: null },
  });
  world.answer = ofToken("jti:signalbox:1");
  await authenticate(credential);
  world.revoke("jti:signalbox:1");
  await assert.rejects(authenticate(credential), unauthorized);
  world.answer = ofToken("jti:signalbox:2");
  const next = { kind: "bearer", value: "the.next.token" } as const;
  await authenticate(next);
  world.revoke("cli_1");
  await assert.rejects(authenticate(next), unauthorized);
});

test("the use of a key is reported to the source every minute, of a person's token every five", async () => {
  for (const [kind, interval] of [["api-key", minutes(1)] as const, ["token", minutes(5)] as const]) {
    const { authenticate, world } = given();
    world.answer = () => ({
      ...principalOf({ state: "active", epoch: 1 }),
      credential: { kind, id: "key_1", authTimeMs: null },
    });
    await authenticate(credential);
    world.clock.advance(interval - 1);
    await authenticate(credential);
    assert.equal(world.asked, 1, kind);
    world.clock.advance(1);
    await authenticate(credential);
    assert.equal(world.asked, 2, kind);
  }
});

test("while account is away only known principals are admitted", async () => {
  const { authenticate, world } = given();
  await authenticate(credential);
  world.answer = away;
  world.clock.advance(hours(3));
  assert.equal((await authenticate(credential)).accountId, "acc_1");
  await authenticate(credential);
  assert.equal(world.asked, 2, "account is not asked on every request while it is away");
  await assert.rejects(authenticate({ kind: "bearer", value: "unseen" }), unavailable);
});

test("a refusal is remembered for a short time only", async () => {
  const { authenticate, world } = given();
  world.answer = () => {
    throw new AppError("unauthorized", "no");
  };
  await assert.rejects(authenticate(credential), unauthorized);
  await assert.rejects(authenticate(credential), unauthorized);
  assert.equal(world.asked, 1);
  world.clock.advance(seconds(10));
  world.answer = () => principalOf({ state: "active", epoch: 1 });
  await authenticate(credential);
  assert.equal(world.asked, 2);
});

const memberOf = (epoch: number): Principal => ({
  ...principalOf({ state: "active", epoch: 1 }),
  member: { accountId: "acc_person", role: "developer", epoch },
});

test("a member is resolved again after a change of the person's own account", async () => {
  const { authenticate, world } = given();
  world.answer = () => memberOf(3);
  await authenticate(credential);
  world.changePerson({ state: "active", epoch: 3 });
  await authenticate(credential);
  assert.equal(world.asked, 1);
  world.changePerson({ state: "active", epoch: 4 });
  world.answer = () => memberOf(4);
  await authenticate(credential);
  await authenticate(credential);
  assert.equal(world.asked, 2);
});

test("a member whose own account is suspended is refused, also while the source is away", async () => {
  const { authenticate, world } = given();
  world.answer = () => memberOf(3);
  await authenticate(credential);
  world.changePerson({ state: "suspended", epoch: 4 });
  world.answer = away;
  await assert.rejects(authenticate(credential), unauthorized);
});
