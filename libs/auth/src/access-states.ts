import { type AccountState, accountStates, type EventData } from "@signalbox/contracts";
import { isAppError, seconds } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord, UnreadableMessage } from "@signalbox/events";
import type { Health, Logger, Metrics, Runner, ShutdownHooks } from "@signalbox/runtime";
import { z } from "zod";
import type { PrincipalSource } from "./principal.ts";

/** The compacted topic of changed access rights. */
export const accessTopic = "signalbox.access.v1";

export interface AccessEntry {
  readonly state: AccountState;
  readonly epoch: number;
  /** Tokens of another issuer with an earlier issue time are refused; null when all are accepted. */
  readonly notBeforeMs: number | null;
}

/** The last known access of accounts and credentials, fed by the state topic. */
export interface AccessStates {
  /** The last entry of an account; null when its access never changed. */
  stateOf(accountId: string): AccessEntry | null;
  isRevoked(credentialId: string): boolean;
  /** Counts the changes of a credential, including changes of its scopes; 0 when it never changed. */
  epochOfCredential(credentialId: string): number;
  /**
   * Calls the listener for every applied change; returns the function that stops it. For streams that must end at once.
   */
  onChange(listener: (change: AccessRecord) => void): () => void;
  /**
   * Applies a change that was committed here, or reported in another service's answer, before the topic delivers it.
   */
  apply(change: AccessRecord): void;
  /** Settles when the topic was read to the end that it had at start. Until then every credential is refused. */
  readonly caughtUp: Promise<void>;
  isCaughtUp(): boolean;
  /** Returns true when the topic may have had unread changes for longer than this. Default: two seconds. */
  isBehind(forMs?: number): boolean;
}

/** CONTRACT §1: the largest age of knowledge about a principal, from the state topic or from the source. */
export const knowledgeAgeMs = seconds(2);

interface Dependencies {
  readonly eventLog: EventLog;
  readonly service: string;
  readonly instance: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly runner: ShutdownHooks;
  readonly health: Health;
}

/**
 * Reads the state topic from its beginning and keeps reading. The service counts as started once the end that the topic
 * had at the opening is reached; until then every credential is refused. During a later outage of the log the last
 * states stay and their age grows.
 */
export async function openAccessStates(dependencies: Dependencies): Promise<AccessStates> {
  const { eventLog, service, instance, log, metrics, runner, health } = dependencies;
  const startup = health.startup("access states");
  const states = createAccessTable();
  let isCaughtUp = false;

  const reader = await eventLog.broadcast({
    service,
    instance,
    topics: [accessTopic],
    from: "start",
    onRecord: (record) => applyRecord(record),
  });
  runner.defer("access states", () => reader.close());
  health.live("access states", () => reader.liveness());
  metrics.gauge("signalbox_access_states_age_seconds", (gauge) => gauge.set({}, reader.ageMs() / 1000));
  const caughtUp = reader.caughtUp.then(() => {
    isCaughtUp = true;
    startup.done();
  });
  caughtUp.catch(() => {}); // liveness reports a failure to callers that do not wait

  const isBehind = (forMs = knowledgeAgeMs) => reader.ageMs() > forMs;
  return { ...states, caughtUp, isCaughtUp: () => isCaughtUp, isBehind };

  function applyRecord(record: ReceivedRecord): void {
    if (record.value === null) {
      states.forget(record.key);
      return;
    }
    const read = readAccessRecord(record);
    // Ending the reader over one record would hide every later suspension, so the record is reported and skipped.
    if (read === null) log.error({ key: record.key, offset: String(record.offset) }, "an access record is unreadable");
    else states.apply(read);
  }
}

/** Holds the last states. Only a higher epoch changes an entry: records are re-appended hourly and may come again. */
export function createAccessTable() {
  const accounts = new Map<string, AccessEntry>();
  const credentials = new Map<string, { epoch: number; revoked: boolean }>();
  const listeners = new Set<(change: AccessRecord) => void>();

  return {
    stateOf: (accountId: string): AccessEntry | null => accounts.get(accountId) ?? null,
    isRevoked: (credentialId: string): boolean => credentials.get(credentialId)?.revoked ?? false,
    epochOfCredential: (credentialId: string): number => credentials.get(credentialId)?.epoch ?? 0,
    onChange(listener: (change: AccessRecord) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Removes the entry with this key of the topic: `account:…`, or `key:…` and the other kinds of credential. */
    forget(subject: string): void {
      const [kind, id = ""] = subject.split(/:(.*)/s);
      if (kind === "account") accounts.delete(id);
      else credentials.delete(id);
    },
    apply(record: AccessRecord): void {
      const known = record.kind === "account" ? accounts.get(record.id) : credentials.get(record.id);
      if (known !== undefined && record.epoch <= known.epoch) return;
      const { epoch } = record;
      if (record.kind === "credential") credentials.set(record.id, { epoch, revoked: record.revoked });
      else accounts.set(record.id, { state: record.state, epoch, notBeforeMs: record.notBeforeMs });
      for (const listener of listeners) listener(record);
    },
  };
}

/** With the half second that account allows the topic, a missing change is noticed within two. */
const askEveryMs = seconds(1);

/**
 * Extends the states of a reader with the writer's knowledge: while the broker accepts nothing from account, everyone
 * may still read the topic, and only account knows that a change is missing. While account does not answer, changes
 * count as missing.
 */
export function followAnnouncements(
  states: AccessStates,
  { principals, runner }: { readonly principals: PrincipalSource; readonly runner: Runner },
): AccessStates {
  let hasUnannounced = false;
  runner.every("access announcements", askEveryMs, async () => {
    hasUnannounced = await principals.hasUnannounced().catch((error: unknown) => {
      if (!isAppError(error)) throw error;
      return true;
    });
  });
  return { ...states, isBehind: (forMs) => hasUnannounced || states.isBehind(forMs) };
}

const subject = { id: z.string(), accountId: z.string(), epoch: z.int() };

/**
 * One entry of the state topic: the state of an account (`acc_…`), or a change or revocation of a credential (the id of
 * a key, client or token). The answer to a mutation carries it to the gateway in this form.
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

/** Converts an event of the state topic to its entry; null for an unknown form. */
export function accessRecordOf(data: EventData<"access.changed">): AccessRecord | null {
  const { kind, id, account_id: accountId, state, epoch, not_before } = data;
  if (kind !== "account") return { kind: "credential", id, accountId, epoch, revoked: state === "revoked" };
  const notBeforeMs = typeof not_before === "string" ? Date.parse(not_before) : null;
  return isAccountState(state) ? { kind, id, accountId, epoch, state, notBeforeMs } : null;
}

/** Reads a record of the state topic; null for an unknown form. */
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
