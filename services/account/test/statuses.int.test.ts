import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AccountState, accountStates, type EventData, mayTransition } from "@signalbox/contracts";
import { eventually } from "@signalbox/testing";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let administrator: Record<string, string>;

before(async () => {
  account = await startAccount({ "account.require-verified-contact": true });
  administrator = { "x-api-key": await account.firstKey() };
});
after(() => account.close());

const path = "/api/account/";
const verified = { email: "ada@example.org", email_verified: true };
const get = (headers: Record<string, string>, at = path) => account.send("GET", at, { headers });
const idOf = async (headers: Record<string, string>): Promise<string> => (await get(headers)).body.id;

const move = (id: string, status: string, more: Record<string, string> = {}) =>
  account.send("POST", `/api/accounts/${id}/status`, {
    headers: { ...administrator, ...more },
    body: { status, reason: `to ${status}` },
  });

/** An account that an administrator has put into `state`. */
async function accountIn(state: AccountState): Promise<{ headers: Record<string, string>; id: string }> {
  const headers = account.person(state === "pending" ? {} : verified);
  const id = await idOf(headers);
  if (state !== "pending" && state !== "active") assert.equal((await move(id, state)).status, 200);
  return { headers, id };
}

for (const from of accountStates) {
  test(`an administrator leads a ${from} account where the contract says, and gets a conflict everywhere else`, async () => {
    for (const to of accountStates.filter((state) => state !== "pending")) {
      const { id } = await accountIn(from);
      const { next_statuses: next } = (await get(administrator, `/api/accounts/${id}`)).body;
      assert.equal(next.includes(to), mayTransition(from, to, "administrator"), "the next states are told before");
      const { status, body } = await move(id, to);
      if (mayTransition(from, to, "administrator")) {
        assert.equal(status, 200, to);
        assert.deepEqual([body.status, body.status_changed_by, body.status_reason], [to, "administrator", `to ${to}`]);
      } else {
        assert.equal(status, 409, to);
        assert.deepEqual([body.error.code, body.error.details[0].code], ["conflict", "transition_not_allowed"]);
        assert.equal((await get(administrator, `/api/accounts/${id}`)).body.status, from);
      }
    }
  });
}

test("a blocked owner reads since when and why, in the account and in every refusal, at both edges", async () => {
  for (const state of ["suspended", "disabled", "deleted"] as const) {
    const { headers, id } = await accountIn(state);
    const { status_changed_at: at } = (await get(administrator, `/api/accounts/${id}`)).body;
    const told = `The account has been ${state} since ${at}. Reason: to ${state}`;
    const refused = await account.send("PATCH", path, { headers, body: { display_name: "Eve" } });
    assert.deepEqual([refused.status, refused.body.error.message], [403, told]);
    assert.deepEqual(refused.body.error.details, [{ field: "status", code: `account_${state}`, message: told }]);
    const rename = `mutation { updateAccount(input: { displayName: "Eve" }) { account { id } errors { message } } }`;
    const graphed = await account.query(headers, rename);
    assert.ok(JSON.stringify(graphed).includes(JSON.stringify(told)), JSON.stringify(graphed));
    if (state === "deleted") continue;
    const { body } = await get(headers);
    assert.deepEqual([body.status, body.status_changed_at, body.status_reason], [state, at, `to ${state}`]);
    const { data } = await account.query(headers, "{ viewer { status statusChangedAt statusReason } }");
    assert.deepEqual(data.viewer, { status: state, statusChangedAt: at, statusReason: `to ${state}` });
  }
});

test("no account becomes pending again, and a change of status needs a reason", async () => {
  const { id } = await accountIn("active");
  const bodies = [
    [{ status: "pending", reason: "x" }, 422],
    [{ status: "suspended", reason: "" }, 422],
    [{ status: "suspended", reason: " \n" }, 422],
    [{ status: "suspended", reason: "x".repeat(501) }, 422],
    [{ status: "suspended", reason: null }, 422],
    [{ status: "suspended" }, 400],
    [{ reason: "x" }, 400],
    [{ status: "suspended", reason: "x", actor: "system" }, 422],
  ] as const;
  for (const [body, expected] of bodies) {
    const { status } = await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body });
    assert.equal(status, expected, JSON.stringify(body));
  }
});

test("each change of status is published once with actor and reason, and as a rising epoch on the state topic", async () => {
  const { id } = await accountIn("active");
  const walk = ["suspended", "active", "disabled", "deleted", "active"] as const;
  for (const state of walk) await move(id, state);
  const told = await account.eventsOf(id, walk.length, "account.status_changed");
  assert.deepEqual(
    told.map(({ data }) => {
      const { previous_status, status, actor, reason, changed } = data as EventData<"account.status_changed">;
      return [previous_status, status, actor, reason, changed.join()];
    }),
    walk.map((state, at) => [walk[at - 1] ?? "active", state, "administrator", `to ${state}`, "status"]),
  );
  const enforced = await account.eventsOf(id, walk.length, "access.changed");
  assert.deepEqual(
    enforced.map(({ data }) => {
      const { state, epoch } = data as EventData<"access.changed">;
      return [state, epoch];
    }),
    walk.map((state, at) => [state, at + 1]),
  );
});

test("of concurrent changes by administrators one succeeds, and the others are refused", async () => {
  const { id } = await accountIn("active");
  const read = await get(administrator, `/api/accounts/${id}`);
  const ifMatch = { "if-match": read.headers.get("etag") as string };
  const answers = await Promise.all(["suspended", "disabled", "suspended"].map((to) => move(id, to, ifMatch)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  assert.equal((await account.eventsOf(id, 1, "account.status_changed")).length, 1);
});

test("a change of status that is sent again under its key is made once", async () => {
  const { id } = await accountIn("active");
  const key = { "idempotency-key": crypto.randomUUID() };
  const answers = [await move(id, "suspended", key), await move(id, "suspended", key)];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(answers[0]?.body, answers[1]?.body);
});

test("an owner turns the account off, asks to have it back, and an administrator sees it and decides", async () => {
  const { headers, id } = await accountIn("active");
  const off = await account.send("POST", "/api/account/status/", { headers, body: { status: "disabled" } });
  assert.equal(off.status, 200);
  assert.equal(off.body.status, "disabled");
  assert.equal((await account.send("PATCH", path, { headers, body: { display_name: "Eve" } })).status, 403);
  assert.equal((await get(headers)).body.status, "disabled");

  const asked = await eventually(async () => {
    const answer = await account.send("POST", "/api/account/recovery/", { headers });
    return answer.status === 202 && answer;
  });
  const again = await account.send("POST", "/api/account/recovery/", { headers });
  assert.deepEqual([again.status, again.body], [202, asked.body]);

  const waiting = await get(administrator, "/api/accounts/?recovery_requested=true&status=disabled");
  const seen = waiting.body.items.find((item: { id: string }) => item.id === id);
  assert.deepEqual([seen.recovery_requested_at, seen.status_changed_by], [asked.body.requested_at, "owner"]);
  const back = await move(id, "active");
  assert.deepEqual([back.status, back.body.recovery_requested_at], [200, null]);
  await eventually(
    async () => (await account.send("PATCH", path, { headers, body: { display_name: "Eve" } })).status === 200,
  );
});

test("the lost answer to a deletion or disabling is returned again under its key, though the new state forbids the rest", async () => {
  const changes = [
    ["POST", "/api/account/status/", { status: "disabled" }, "disabled"],
    ["DELETE", path, undefined, "deleted"],
  ] as const;
  for (const [method, at, body, state] of changes) {
    const { headers, id } = await accountIn("active");
    const send = (key: string) => account.send(method, at, { headers: { ...headers, "idempotency-key": key }, body });
    const key = crypto.randomUUID();
    const first = await send(key);
    // The row would refuse a change of the account; this refusal is the edge's alone.
    const another = () => account.send("DELETE", "/api/account/api-keys/none", { headers });
    await eventually(async () => (await another()).status === 403);
    const again = await send(key);
    assert.deepEqual([again.status, again.body], [first.status, first.body]);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    const { status, body: refusal } = await account.send("PATCH", path, {
      headers: { ...headers, "idempotency-key": key },
      body: { display_name: "Eve" },
    });
    assert.deepEqual([status, refusal.error.details[0].code], [403, `account_${state}`]);
    assert.equal((await account.eventsOf(id, 1, "account.status_changed")).length, 1);
  }
});

test("only a disabled account asks for recovery", async () => {
  for (const state of ["pending", "active", "suspended", "deleted"] as const) {
    const { headers } = await accountIn(state);
    await eventually(async () => {
      const { status, body } = await account.send("POST", "/api/account/recovery/", { headers });
      assert.deepEqual([status, body.error.details[0].code], [403, `account_${state}`]);
    });
  }
});

test("an owner neither suspends nor revives, and turns the account off only after a recent sign-in", async () => {
  const { headers } = await accountIn("active");
  for (const status of ["suspended", "active", "deleted", "pending"]) {
    const answer = await account.send("POST", "/api/account/status/", { headers, body: { status } });
    assert.equal(answer.status, 422, status);
  }
  const longAgo = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const stale = account.person({ ...verified, auth_time: longAgo });
  const refused = await account.send("POST", "/api/account/status/", { headers: stale, body: { status: "disabled" } });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
});

test("a house whose first administrator shut themselves out is opened again with a new first key", async () => {
  const id = await idOf(administrator);
  const helper = account.person({ ...verified, roles: ["admin"] });
  const body = { status: "deleted", reason: "gone" };
  const deleted = await account.send("POST", `/api/accounts/${id}/status`, { headers: helper, body });
  assert.equal(deleted.status, 200, "the issuer has another administrator");
  const again = { "x-api-key": await account.firstKey() };
  assert.equal(await idOf(again), id);
  const read = await eventually(async () => {
    const answer = await get(again, `/api/accounts/${id}`);
    return answer.status === 200 && answer.body;
  });
  assert.deepEqual([read.status, read.status_changed_by, read.status_reason], ["active", "administrator", "first key"]);
});
