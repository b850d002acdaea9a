import type { AccountState } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import type { EventLog, ReceivedRecord } from "@signalbox/events";
import type { Health, Runner } from "@signalbox/runtime";
import type { Logger, Metrics } from "@signalbox/telemetry";
import { type AccessRecord, readAccessRecord } from "./access-record.ts";

/** The compacted topic that says what changed about who may do what. */
export const accessTopic = "signalbox.access.v1";

export interface AccessEntry {
  readonly state: AccountState;
  readonly epoch: number;
  /** Tokens of another issuer that were issued until then are not accepted; null when all are. */
  readonly notBeforeMs: number | null;
}

/** The last known access of accounts and credentials, fed by the state topic. */
export interface AccessStates {
  /** The last entry of an account; null when its access never changed. */
  stateOf(accountId: string): AccessEntry | null;
  isRevoked(credentialId: string): boolean;
  /** Counts the changes of a credential, a change of its scopes included; 0 when it never changed. */
  epochOfCredential(credentialId: string): number;
  /** Calls back for every applied change; returns the way to stop. For streams that must end at once. */
  onChange(listener: (change: AccessRecord) => void): () => void;
  /** Applies a change that was committed here, or that another service's answer told of, before the topic brings it. */
  apply(change: AccessRecord): void;
  /** Settles when the topic was read to the end it had at start. Until then nobody is let in. */
  readonly caughtUp: Promise<void>;
  isCaughtUp(): boolean;
  /** Whether the topic may have had changes for longer than this of which nothing is known here; two seconds when left out. */
  isBehind(forMs?: number): boolean;
}

/** CONTRACT §1: how old may be what is known of a principal, from the state topic or from the source. */
export const knowledgeAgeMs = seconds(2);

interface Dependencies {
  readonly eventLog: Pick<EventLog, "broadcast">;
  readonly service: string;
  readonly instance: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly runner: Pick<Runner, "defer">;
  readonly health: Pick<Health, "startup" | "live">;
}

/**
 * Reads the state topic from its beginning and keeps reading. The service counts as started once the end that the topic
 * had is reached; until then nobody is let in. When the log goes away later, the last states stay and their age grows.
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
  caughtUp.catch(() => {}); // whoever does not wait for it learns of a failure from liveness

  const isBehind = (forMs = knowledgeAgeMs) => reader.ageMs() > forMs;
  return { ...states, caughtUp, isCaughtUp: () => isCaughtUp, isBehind };

  function applyRecord(record: ReceivedRecord): void {
    if (record.value === null) {
      states.forget(record.key);
      return;
    }
    const read = readAccessRecord(record);
    // Ending the reader over one record would hide every later suspension, so it is reported and passed over.
    if (read === null) log.error({ key: record.key, offset: String(record.offset) }, "an access record is unreadable");
    else states.apply(read);
  }
}

/** Holds the states that were read. Only a higher epoch changes an entry: records are re-appended hourly and may come again. */
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
    /** By the key of the topic: `account:…`, or `key:…` and the other kinds of credential. */
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
