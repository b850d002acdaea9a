import { Readable } from "node:stream";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import { viewAccount } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import { viewSettings } from "../settings/settings.ts";
import { exportDocument, type StartedSection } from "./export-document.ts";
import type { ExportSection } from "./export-section.ts";

export interface ExportAccount {
  readonly accountId: string;
  readonly by: Actor;
}

export type ExportAccountOutcome = { outcome: "exported"; document: Readable } | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "find">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  /** In the order of the document. */
  readonly sections: readonly ExportSection[];
  /** Names of sections that this deployment does not know where to ask for. */
  readonly leftOut: readonly string[];
}

/**
 * Everything the account has, as one JSON document that is read while it is sent. The first page of every section is asked for
 * before the first byte, so that a service that is away is an error and not half a document.
 */
export function createExportAccount({ pool, accounts, audit, clock, sections, leftOut }: Dependencies) {
  return async function exportAccount({ accountId, by }: ExportAccount): Promise<ExportAccountOutcome> {
    const account = await accounts.find(accountId);
    if (!account) return { outcome: "not-found" };
    const started = await Promise.all(sections.map((section) => start(section, accountId)));
    await inTransaction(pool, (tx) => audit.record(tx, { action: "account.export", accountId, fields: [], by }));
    const head = {
      exported_at: clock.now().toISOString(),
      left_out: leftOut,
      account: viewAccount(account),
      settings: viewSettings(account),
    };
    return { outcome: "exported", document: Readable.from(exportDocument(head, started), { objectMode: false }) };
  };
}

export type ExportAccountVerb = ReturnType<typeof createExportAccount>;

async function start({ name, pages }: ExportSection, accountId: string): Promise<StartedSection> {
  const rest = pages(accountId);
  const { value: first, done } = await rest.next();
  return { name, first: done ? [] : first, rest };
}
