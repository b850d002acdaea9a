import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import { createAuditReads } from "./audit-reads.ts";

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
