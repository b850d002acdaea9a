import { type AccountState, accountStates, type EventData } from "@signalbox/contracts";
import { decodeEvent, eventNameOf, type ReceivedRecord, UnreadableMessage } from "@signalbox/events";
import { z } from "zod";

const subject = { id: z.string(), accountId: z.string(), epoch: z.int() };

/**
 * One entry of the state topic: of an account (`acc_…`), or that a credential (the id of a key, client or token) changed
 * or was revoked. In this form the answer to a mutation carries it to the gateway.
 */
export const AccessRecord = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("account"),
    ...subject,
    state: z.enum(accountStates),
    notBeforeMs: z.number().nullable().default(null),
  }),
  z.object({ kind: z.literal("credential"), ...subject, revoked: z.boolean() }),
]);
export type AccessRecord = z.output<typeof AccessRecord>;

/** Reads an event of the state topic as its entry; null where it makes no sense. */
export function accessRecordOf(data: EventData<"access.changed">): AccessRecord | null {
  const { kind, id, account_id: accountId, state, epoch, not_before } = data;
  if (kind !== "account") return { kind: "credential", id, accountId, epoch, revoked: state === "revoked" };
  const notBeforeMs = typeof not_before === "string" ? Date.parse(not_before) : null;
  return isAccountState(state) ? { kind, id, accountId, epoch, state, notBeforeMs } : null;
}

/** Reads a record of the state topic; null when it is none that we understand. */
export function readAccessRecord(record: Pick<ReceivedRecord, "headers" | "value">): AccessRecord | null {
  try {
    if (eventNameOf(record.headers) !== "access.changed") return null;
    return accessRecordOf(decodeEvent("access.changed", record).data);
  } catch (error) {
    if (error instanceof UnreadableMessage) return null;
    throw error;
  }
}

function isAccountState(state: string): state is AccountState {
  return (accountStates as readonly string[]).includes(state);
}
