import type { Principal } from "@signalbox/auth";
import type { EventDraft } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import { type Actor, type AuditChange, audited } from "./audit-entry.ts";

/** A read in its minute. */
export interface AuditedRead {
  readonly by: Actor;
  readonly read: AuditChange;
  readonly minuteMs: number;
  /** Names the read within the minute, equal in every instance. */
  readonly name: string;
}

interface AuditReadDependencies {
  readonly clock: Clock;
  readonly write: (read: AuditedRead) => Promise<void>;
}

/** Number of reads that are remembered; repetitions of further ones are written again. */
const rememberedMax = 10_000;

/** Records reads in the audit. The same read by the same credential is one entry a minute. */
export function createAuditReads({ write, clock }: AuditReadDependencies) {
  const written = new Map<string, Promise<void>>();
  let currentMs = 0;

  return {
    /** Resolves once the entry is written, by this call or an earlier one. */
    record(by: Actor, read: AuditChange): Promise<void> {
      const minuteMs = Math.floor(clock.nowMs() / minutes(1)) * minutes(1);
      if (minuteMs !== currentMs) written.clear();
      currentMs = minuteMs;
      const name = JSON.stringify([by.credential, read.action, read.accountId ?? by.accountId, read.subject ?? null]);
      const known = written.get(name);
      if (known) return known;
      const writing = write({ by, read, minuteMs, name });
      if (written.size < rememberedMax) written.set(name, writing);
      void writing.catch(() => written.delete(name));
      return writing;
    },
  };
}

type Context = ServiceContext<unknown>;

export type RecordManagementRead = ReturnType<typeof createManagementReads>;

/**
 * Creates the function that records a read of the management `env` in the audit of its reader. It does so in the
 * background, because values of a process must be readable while its database is away.
 */
export function createManagementReads(
  { service, clock, log }: Context,
  send: (entry: EventDraft<"audit.recorded">) => Promise<void>,
) {
  const reads = createAuditReads({ clock, write: ({ by, read }) => send(audited(by, read)) });
  return ({ accountId, credential }: Principal, address: string): void => {
    const by = { kind: "owner", accountId, credential: credential.id, address, requestId: null } as const;
    reads
      .record(by, { action: "management.read_env", subject: service })
      .catch((error: unknown) => log.error({ error }, "writing a management read to the audit failed"));
  };
}
