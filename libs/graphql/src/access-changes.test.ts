import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccessRecord } from "@signalbox/auth";
import { takeAccessChanges, withAccessChanges } from "./access-changes.ts";

const revoked: AccessRecord = { kind: "credential", id: "key_1", accountId: "acc_1", epoch: 2, revoked: true };

/** Creates access states whose listeners receive every applied change. */
function given() {
  const applied: AccessRecord[] = [];
  const listeners = new Set<(change: AccessRecord) => void>();
  return {
    applied,
    accessStates: {
      apply(change: AccessRecord) {
        applied.push(change);
        for (const listener of listeners) listener(change);
      },
      onChange(listener: (change: AccessRecord) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
}

/** The result as the gateway receives it. */
const sent = <T>(result: T): T => JSON.parse(JSON.stringify(result));

test("a revocation is applied where the result arrives and left out of the client's answer", async () => {
  const [account, gateway] = [given(), given()];
  const result = await withAccessChanges(account.accessStates, async () => {
    account.accessStates.apply(revoked);
    return { data: { revokeApiKey: { errors: [] } }, extensions: { cost: 1 } };
  });
  const taken = takeAccessChanges(sent(result), gateway.accessStates);
  assert.deepEqual(gateway.applied, [revoked]);
  assert.deepEqual(taken, { data: { revokeApiKey: { errors: [] } }, extensions: { cost: 1 } });
});

test("a result without changes stays unchanged, and its listener is removed", async () => {
  const { accessStates, applied } = given();
  const result = await withAccessChanges(accessStates, async () => ({ data: {} }));
  accessStates.apply(revoked);
  assert.deepEqual(takeAccessChanges(result, accessStates), { data: {} });
  assert.deepEqual(applied, [revoked]);
});

test("changes of another version are left to the state topic", () => {
  const { accessStates, applied } = given();
  takeAccessChanges({ extensions: { accessChanges: [{ kind: "planet" }] } }, accessStates);
  takeAccessChanges({ extensions: { accessChanges: "all" } }, accessStates);
  assert.deepEqual(applied, []);
});
