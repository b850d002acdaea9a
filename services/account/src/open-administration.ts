import { createDayTables, dayMs } from "@signalbox/storage";
import { createAccountCreation } from "./administration/account-creation.ts";
import { createAccountReference } from "./administration/account-reference.ts";
import { createAccountRoles } from "./administration/account-roles.ts";
import { createAccountSearchStore } from "./administration/account-search-store.ts";
import { createAdministratorReads } from "./audit/administrator-reads.ts";
import { auditDays } from "./audit/audit-entry.ts";
import { createAuditStore } from "./audit/audit-store.ts";
import type { Base } from "./base.ts";
import { createAccountPurge } from "./deletion/account-purge.ts";
import { createPurgeStore } from "./deletion/purge-store.ts";
import type { Credentials } from "./open-credentials.ts";
import type { Configured } from "./properties.ts";
import { createLastAdministrator } from "./statuses/last-administrator.ts";
import { createStatuses } from "./statuses/statuses.ts";

interface AdministrationDependencies {
  readonly base: Base;
  readonly credentials: Credentials;
  /** True when roles are granted here. */
  readonly rolesAreOurs: boolean;
}

/** Opens the operations on accounts by their owners and administrators, and the reads of the audit. */
export function openAdministration(
  { configuration, clock }: Configured,
  { base, credentials, rolesAreOurs }: AdministrationDependencies,
) {
  const { pool, outbox, accountStore, accountRecords, audit, access, statusTransitions, firstValues } = base;
  const { apiKeys } = credentials;
  const accountReference = createAccountReference({ accountStore, accountRecords, audit, clock });
  const lastAdministrator = createLastAdministrator(rolesAreOurs);
  const auditDaysKept = () => configuration.get("account.audit.retention-days");
  return {
    rolesAreOurs,
    statuses: createStatuses({ accountStore, statusTransitions, lastAdministrator, audit, clock }),
    accountRoles: createAccountRoles({
      accountStore,
      accountReference,
      access,
      audit,
      clock,
      lastAdministrator,
      rolesAreOurs,
    }),
    accountCreation: createAccountCreation({
      accountStore,
      apiKeys,
      audit,
      outbox,
      clock,
      firstValues,
      rolesAreOurs,
    }),
    accountSearch: createAccountSearchStore(pool),
    administratorReads: createAdministratorReads({ pool, audit, clock }),
    auditStore: createAuditStore({ pool, clock, retentionDays: auditDaysKept }),
    auditDayTables: createDayTables({ pool, clock, keepMs: () => auditDaysKept() * dayMs }, [auditDays]),
    accountPurge: createAccountPurge({
      pool,
      accountStore,
      purgeStore: createPurgeStore(pool),
      access,
      outbox,
      audit,
      clock,
      retentionDays: () => configuration.get("account.retention-days"),
    }),
  };
}
