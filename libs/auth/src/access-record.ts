import { type AccountState, accountStates, type EventData } from "@signalbox/contracts";
import { decodeEvent, eventNameOf, type ReceivedRecord, UnreadableMessage } from "@signalbox/events";

/** One entry of the state topic: of an account, or that a credential changed or was revoked. */
export type AccessRecord =
  | { kind: "account"; id: string; accountId: string; epoch: number; state: AccountState }
  | { kind: "credential"; id: string; accountId: string; epoch: number; revoked: boolean };

/** Reads a record of the state topic; null when it is none that we understand. */
export function readAccessRecord(record: Pick<ReceivedRecord, "headers" | "value">): AccessRecord | null {
  try {
    if (eventNameOf(record.headers) !== "access.changed") return null;
    return entryOf(decodeEvent("access.changed", record).data);
  } catch (error) {
    if (error instanceof UnreadableMessage) return null;
    throw error;
  }
}

function entryOf({ kind, id, account_id: accountId, state, epoch }: EventData<"access.changed">): AccessRecord | null {
  if (kind !== "account") return { kind: "credential", id, accountId, epoch, revoked: state === "revoked" };
  return isAccountState(state) ? { kind, id, accountId, epoch, state } : null;
}

function isAccountState(state: string): state is AccountState {
  return (accountStates as readonly string[]).includes(state);
}
