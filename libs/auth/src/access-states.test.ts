import assert from "node:assert/strict";
import { test } from "node:test";
import { type AccountState, accountStates, type EventData, eventOf, type Scope } from "@signalbox/contracts";
import { AppError, createManualClock, isAppError, minutes, uuidv7 } from "@signalbox/core";
import type { Runner } from "@signalbox/runtime";
import { serviceWith } from "@signalbox/testing";
import { requireScopes, requireState, requireStepUp, stateRefusal } from "./access-rules.ts";
import {
  type AccessRecord,
  type AccessStates,
  createAccessTable,
  followAnnouncements,
  readAccessRecord,
} from "./access-states.ts";
import type { Principal, PrincipalCredential, PrincipalSource } from "./principal.ts";

const clock = createManualClock();

function principal(
  state: AccountState,
  scopes: Scope[] = [],
  credential: Partial<PrincipalCredential> = {},
): Principal {
  return {
    accountId: "acc_1",
    state,
    epoch: 0,
    scopes: new Set(scopes),
    roles: ["owner"],
    credential: { kind: "token", id: "jti:corp:1", authTimeMs: null, ...credential },
    expiresAt: null,
  };
}

const refusedWith = (detail: string) => (error: unknown) =>
  isAppError(error) && error.code === "forbidden" && error.details[0]?.code === detail;

test("every missing scope is named", () => {
  requireScopes(principal("active", ["images:read", "images:write"]), ["images:read", "images:write"]);
  assert.throws(
    () => requireScopes(principal("active", ["images:read"]), ["images:read", "images:write"]),
    /images:write/,
  );
});

test("each account state permits exactly what the contract's table lists", () => {
  const left = Object.fromEntries(
    accountStates.map((state) => [
      state,
      (["read", "write", "own-account:read", "own-account:write"] as const).filter((access) => {
        try {
          requireState(principal(state), access);
          return true;
        } catch (error) {
          assert.ok(refusedWith(`account_${state}`)(error));
          return false;
        }
      }),
    ]),
  );
  assert.deepEqual(left, {
    pending: ["read", "own-account:read", "own-account:write"],
    active: ["read", "write", "own-account:read", "own-account:write"],
    suspended: ["read", "own-account:read"],
    disabled: ["own-account:read"],
    deleted: [],
  });
});

test("a refused owner reads since when the state holds and the reason that was given", () => {
  const refusedIn = (stateChange?: Principal["stateChange"]) =>
    stateRefusal({ ...principal("suspended"), stateChange }, "write")?.message;
  const atMs = Date.parse("2026-01-03T08:15:00.000Z");
  const since = "The account has been suspended since 2026-01-03T08:15:00.000Z.";
  assert.equal(refusedIn({ atMs, reason: "Unpaid." }), `${since} Reason: Unpaid.`);
  assert.equal(refusedIn({ atMs, reason: null }), since);
  assert.equal(refusedIn(), "The account is suspended.");
});

test("a sensitive change needs a sign-in of the last 15 minutes", () => {
  const signedInAt = (agoMs: number) => principal("active", [], { authTimeMs: clock.nowMs() - agoMs });
  requireStepUp(signedInAt(minutes(15)), clock);
  assert.throws(() => requireStepUp(signedInAt(minutes(15) + 1), clock), refusedWith("step_up_required"));
  assert.throws(() => requireStepUp(principal("active"), clock), refusedWith("step_up_required"));
});

test("an API key steps up by its scope, a client never does", () => {
  requireStepUp(principal("active", ["account:security"], { kind: "api-key" }), clock);
  assert.throws(
    () => requireStepUp(principal("active", [], { kind: "api-key" }), clock),
    refusedWith("step_up_required"),
  );
  const client = principal("active", ["account:security"], { kind: "client", authTimeMs: clock.nowMs() });
  assert.throws(() => requireStepUp(client, clock), refusedWith("step_up_required"));
});

const example = eventOf("access.changed").example as EventData<"access.changed">;

const headers = {
  ce_specversion: "1.0",
  ce_id: uuidv7(),
  ce_type: "access.changed.v1",
  ce_time: "2026-01-01T00:00:00.000Z",
  ce_subject: "account:acc_1",
};
const recordOf = (data: object) => ({ headers, value: Buffer.from(JSON.stringify(data)) });

function apply(table: ReturnType<typeof createAccessTable>, data: Partial<EventData<"access.changed">>) {
  const record = readAccessRecord(recordOf({ ...example, ...data }));
  assert.ok(record);
  table.apply(record);
}

test("an account that never changed has no entry", () => {
  assert.equal(createAccessTable().stateOf("acc_1"), null);
});

test("the revocation of a key leaves other keys alone", () => {
  const table = createAccessTable();
  apply(table, { kind: "key", id: "key_1", state: "revoked", epoch: 1 });
  assert.equal(table.isRevoked("key_1"), true);
  assert.equal(table.isRevoked("key_2"), false);
});

test("only a higher epoch changes an account, never a repeated or late record", () => {
  const table = createAccessTable();
  const seen: AccessRecord[] = [];
  table.onChange((change) => seen.push(change));
  apply(table, { kind: "account", id: "acc_1", account_id: "acc_1", state: "suspended", epoch: 4 });
  apply(table, { kind: "account", id: "acc_1", account_id: "acc_1", state: "active", epoch: 3 });
  apply(table, { kind: "account", id: "acc_1", account_id: "acc_1", state: "suspended", epoch: 4 });
  const entry = { state: "suspended", epoch: 4, notBeforeMs: null };
  assert.deepEqual(table.stateOf("acc_1"), entry);
  assert.deepEqual(seen, [{ kind: "account", id: "acc_1", accountId: "acc_1", ...entry }]);
});

test("an account that signed out everywhere has the time, as long as its newest entry says so", () => {
  const table = createAccessTable();
  const changed = { kind: "account", id: "acc_1", account_id: "acc_1", state: "active" } as const;
  apply(table, { ...changed, epoch: 1, not_before: "2026-01-01T10:00:00.300Z" });
  assert.equal(table.stateOf("acc_1")?.notBeforeMs, Date.parse("2026-01-01T10:00:00.300Z"));
  apply(table, { ...changed, epoch: 2, not_before: null });
  assert.equal(table.stateOf("acc_1")?.notBeforeMs, null);
});

test("a tombstone removes its own entry only", () => {
  const table = createAccessTable();
  apply(table, { kind: "account", id: "acc_1", account_id: "acc_1", state: "suspended", epoch: 4 });
  apply(table, { kind: "token", id: "jti:corp:1", state: "revoked", epoch: 1 });
  apply(table, { kind: "key", id: "key_1", state: "revoked", epoch: 1 });
  table.forget("account:acc_1");
  table.forget("token:jti:corp:1");
  table.forget("unheard-of");
  assert.deepEqual([table.stateOf("acc_1"), table.isRevoked("jti:corp:1")], [null, false]);
  assert.equal(table.isRevoked("key_1"), true);
});

test("a stopped listener is not called again", () => {
  const table = createAccessTable();
  const seen: AccessRecord[] = [];
  const stop = table.onChange((change) => seen.push(change));
  stop();
  apply(table, { kind: "key", id: "key_1", state: "revoked", epoch: 1 });
  assert.deepEqual(seen, []);
});

test("a malformed record of the state topic is ignored", () => {
  for (const value of [null, Buffer.from("{"), Buffer.from("{}"), Buffer.from('{"kind":"account"}')]) {
    assert.equal(readAccessRecord({ headers, value }), null);
  }
  assert.equal(readAccessRecord(recordOf({ ...example, kind: "account", state: "revoked" })), null);
  assert.equal(readAccessRecord({ ...recordOf(example), headers: {} }), null);
  const newer = { ...headers, ce_type: "access.changed.v2" };
  assert.equal(readAccessRecord({ ...recordOf(example), headers: newer }), null);
});

/** Creates states with a controllable reader and a controllable answer to the question asked each second. */
function given() {
  const world = { isBehind: false, answer: async () => false };
  const isCaughtUp = () => true;
  const caughtUp = Promise.resolve();
  const reader: AccessStates = { ...createAccessTable(), caughtUp, isCaughtUp, isBehind: () => world.isBehind };
  let turn = async () => {};
  const states = followAnnouncements(reader, {
    principals: serviceWith<PrincipalSource>({ hasUnannounced: () => world.answer() }),
    runner: serviceWith<Runner>({
      every: (_name, _pause, work) => {
        turn = async () => void (await work(new AbortController().signal, () => {}));
      },
    }),
  });
  return { world, states, ask: () => turn() };
}

test("states are outdated while account reports a missing change, even if the topic is read", async () => {
  const { world, states, ask } = given();
  await ask();
  assert.equal(states.isBehind(), false);
  world.answer = async () => true;
  await ask();
  assert.equal(states.isBehind(), true);
  world.answer = async () => false;
  await ask();
  assert.equal(states.isBehind(), false);
});

test("states are outdated while account is away", async () => {
  const { world, states, ask } = given();
  world.answer = () => Promise.reject(new AppError("unavailable", "away", { retryAfterSeconds: 1 }));
  await ask();
  assert.equal(states.isBehind(), true);
});

test("states are outdated while the topic is not read, even if account reports nothing", async () => {
  const { world, states, ask } = given();
  world.isBehind = true;
  await ask();
  assert.equal(states.isBehind(), true);
});
