import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Caller } from "@signalbox/auth";
import type { AuditedRead } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";
import { actorOf, recordReads } from "./audit-log.ts";

type ReadOfAccount = "account.read" | `account.read_${"audit" | "api_keys" | "clients" | "sign_ins"}`;

/**
 * Records what an administrator reads of another account, in its own audit, before the read is answered. The entry of a
 * read of the audit is written once its page is read, which does not show it.
 */
export async function recordReadOfAccount(
  { auditReads }: AccountService,
  caller: Caller,
  accountId: string,
  action: ReadOfAccount,
): Promise<void> {
  if (accountId === caller.accountId) return;
  await auditReads.record(actorOf(caller, "administrator"), { action, accountId });
}

/** Records the read of a list over all accounts, in the audit of the reader. */
export const recordReadOfAll = (
  { auditReads }: AccountService,
  caller: Caller,
  action: "account.list" | "account.list_audit",
): Promise<void> => auditReads.record(actorOf(caller), { action });

/** Writes the reads of one turn with one statement: a request may read a page of accounts. */
export function writeReadsTogether(pool: Pool): (read: AuditedRead) => Promise<void> {
  let batch: { readonly reads: AuditedRead[]; readonly written: Promise<void> } | null = null;

  return function write(read) {
    batch ??= { reads: [], written: endOfTurn().then(writeBatch) };
    batch.reads.push(read);
    return batch.written;
  };

  async function writeBatch(): Promise<void> {
    const together = batch?.reads ?? [];
    batch = null;
    await recordReads(pool, together);
  }
}
