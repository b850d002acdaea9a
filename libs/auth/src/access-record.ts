import { type AccountState, type accessStates, accountStates, type EventData, eventOf } from "@signalbox/contracts";
import type { ReceivedRecord } from "@signalbox/events";

/** One entry of the state topic: of an account, or that a credential was revoked. */
export type AccessRecord =
  | { kind: "account"; id: string; accountId: string; epoch: number; state: AccountState }
  | { kind: "credential"; id: string; accountId: string; epoch: number; revoked: boolean };

/** Reads a record of the state topic; null when it is none that we understand. */
export function readAccessRecord(record: Pick<ReceivedRecord, "value">): AccessRecord | null {
  const parsed = eventOf("access.changed").data.safeParse(json(record.value));
  return parsed.success ? entryOf(parsed.data) : null;
}

function entryOf({ kind, id, account_id: accountId, state, epoch }: EventData<"access.changed">): AccessRecord | null {
  if (kind !== "account") return { kind: "credential", id, accountId, epoch, revoked: state === "revoked" };
  return isAccountState(state) ? { kind, id, accountId, epoch, state } : null;
}

function isAccountState(state: (typeof accessStates)[number]): state is AccountState {
  return (accountStates as readonly string[]).includes(state);
}

function json(value: Buffer | null): unknown {
  try {
    return value === null ? null : JSON.parse(value.toString("utf8"));
  } catch {
    return null;
  }
}
