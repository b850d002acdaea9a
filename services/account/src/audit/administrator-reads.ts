import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Caller } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { type AuditedRead, createAuditReads } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import { type Audit, actorOf } from "./audit-log.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly audit: Pick<Audit, "recordReads">;
  readonly clock: Clock;
}

/** Reads of one turn, which share a statement: a request may read a page of accounts. */
interface Batch {
  readonly reads: AuditedRead[];
  readonly written: Promise<void>;
}

type ReadOfAccount = "account.read" | `account.read_${"audit" | "api_keys" | "clients" | "sign_ins"}`;

export type AdministratorReads = ReturnType<typeof createAdministratorReads>;

/**
 * Records what administrators read of other accounts, before they are answered. The entry of a read of the audit is
 * written once its page is read, which does not show it.
 */
export function createAdministratorReads({ pool, audit, clock }: Dependencies) {
  const reads = createAuditReads({ clock, write });
  let batch: Batch | null = null;

  return {
    /** Records the read of one account, in its own audit. */
    async ofAccount(caller: Caller, accountId: string, action: ReadOfAccount): Promise<void> {
      if (accountId === caller.accountId) return;
      await reads.record(actorOf(caller, "administrator"), { action, accountId });
    },

    /** Records the read of a list over all accounts, in the audit of the reader. */
    ofAll: (caller: Caller, action: "account.list" | "account.list_audit"): Promise<void> =>
      reads.record(actorOf(caller), { action }),
  };

  function write(read: AuditedRead): Promise<void> {
    batch ??= { reads: [], written: endOfTurn().then(writeBatch) };
    batch.reads.push(read);
    return batch.written;
  }

  async function writeBatch(): Promise<void> {
    const together = batch?.reads ?? [];
    batch = null;
    await audit.recordReads(pool, together);
  }
}
