import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "@signalbox/auth";
import { createManualClock, seconds } from "@signalbox/core";
import { testContext } from "@signalbox/testing";
import { entryOfChange, type Refusal } from "./audit-entry.ts";
import { createAuditReads } from "./audit-reads.ts";
import { createAuditRefusals } from "./audit-refusals.ts";

const ownerOf = (credential: string) =>
  ({ kind: "owner", accountId: "acc_1", credential, address: null, requestId: null }) as const;

function counted() {
  const clock = createManualClock(new Date("2026-01-01T00:00:00Z"));
  const written: string[] = [];
  const faults: Error[] = [];
  const { record } = createAuditReads({
    clock,
    async write({ name }) {
      const fault = faults.pop();
      if (fault) throw fault;
      written.push(name);
    },
  });
  const read = (subject: string, credential = "key_1") =>
    record(ownerOf(credential), { action: "management.read_env", subject });
  return { clock, read, written, faults };
}

test("the same read by the same credential is written once a minute, concurrent ones too", async () => {
  const { clock, read, written } = counted();
  await Promise.all([read("images"), read("images"), read("account"), read("images", "key_2")]);
  clock.advance(seconds(59));
  await read("images");
  assert.equal(written.length, 3);
  clock.advance(seconds(1));
  await read("images");
  assert.equal(written.length, 4);
});

test("a read that could not be written is written by the next one", async () => {
  const { read, written, faults } = counted();
  faults.push(new Error("away"));
  await assert.rejects(read("images"), /away/);
  await read("images");
  assert.equal(written.length, 1);
});

test("more reads in a minute than are remembered are written again, not lost", async () => {
  const { read, written } = counted();
  for (let count = 0; count < 10_001; count++) await read(`s${count}`);
  await read("s10000");
  await read("s0");
  assert.equal(written.length, 10_002);
});

/** Collects refusals in a list, with a clock moved by hand. */
function listed() {
  const clock = createManualClock(new Date("2026-01-01T00:00:00Z"));
  const { log, metrics } = testContext("images", {});
  const written: Refusal[] = [];
  const write = async (refusal: Refusal) => void written.push(refusal);
  const { record } = createAuditRefusals({ clock, log, metrics, write });
  const refuse = (operation: string, credential = "key_1", accountId = "acc_1") => {
    const by = { kind: "owner", accountId, credential, address: null, requestId: null } as const;
    record({ accountId, operation, fields: ["scope"], reason: "scope_required", by });
  };
  const actions = (credential = "key_1") =>
    written.filter(({ by }) => by.credential === credential).map(({ operation }) => operation);
  const leftOut = async () => /^signalbox_audit_refusals_left_out_total.* (\d+)$/m.exec(await metrics.text())?.[1];
  return { clock, refuse, actions, leftOut };
}

test("the same refusal of a credential is one entry a minute", () => {
  const { clock, refuse, actions } = listed();
  for (let count = 0; count < 5; count++) refuse("GET /images");
  refuse("GET /images", "key_2");
  assert.deepEqual([actions(), actions("key_2")], [["GET /images"], ["GET /images"]]);
  clock.advance(60_000);
  refuse("GET /images");
  assert.deepEqual(actions(), ["GET /images", "GET /images"]);
});

test("a flood of refusals is counted in one entry without limiting other credentials", async () => {
  const { clock, refuse, actions, leftOut } = listed();
  for (let count = 0; count < 500; count++) refuse(`GET /${count}`);
  assert.equal(actions().length, 21);
  assert.equal(actions().at(-1), "audit.limit");
  assert.equal(await leftOut(), "480");
  refuse("GET /images", "key_2");
  assert.deepEqual(actions("key_2"), ["GET /images"]);
  clock.advance(60_000);
  refuse("GET /again");
  assert.equal(actions().at(-1), "GET /again");
});

test("a flood of refusals at one account does not limit those of its credential at others", () => {
  const { refuse, actions } = listed();
  for (let count = 0; count < 500; count++) refuse(`GET /${count}`, "console");
  refuse("sign_in", "console", "acc_2");
  assert.equal(actions("console").at(-1), "sign_in");
});

test("refusals of implausibly many credentials are counted, not kept", async () => {
  const { refuse, actions, leftOut } = listed();
  for (let count = 0; count < 10_100; count++) refuse("GET /images", `key_${count}`);
  assert.deepEqual(actions("key_9999"), ["GET /images"]);
  assert.deepEqual(actions("key_10000"), []);
  assert.equal(await leftOut(), "100");
});

test("the audit of an account names the member who acted by their own account", () => {
  const caller: Caller = {
    accountId: "acc_team",
    member: { accountId: "acc_grace", role: "owner", epoch: 0 },
    state: "active",
    epoch: 0,
    scopes: new Set(),
    roles: [],
    credential: { kind: "token", id: "jti:signalbox:1", authTimeMs: null },
    expiresAt: null,
    requestId: "req_1",
    clientAddress: null,
  };
  const { account_id, actor } = entryOfChange(caller, { action: "image.delete", subject: "img_1" });
  assert.deepEqual([account_id, actor.kind, actor.account_id], ["acc_team", "owner", "acc_grace"]);
});
