import type { AccessStates } from "@signalbox/auth";
import type { Outbox } from "@signalbox/events";
import { createAuditRefusals } from "@signalbox/service";
import { createSealer, type Pool } from "@signalbox/storage";
import { createAccessAnnouncements } from "./access/access-announcements.ts";
import { createAccountRecords } from "./accounts/account-events.ts";
import { createAccountStore } from "./accounts/account-store.ts";
import { createAudit } from "./audit/audit-log.ts";
import { createVerifiedAddresses } from "./contacts/verified-addresses.ts";
import { createMails } from "./mail/mails.ts";
import { createNotices } from "./notices/notices.ts";
import type { Configured } from "./properties.ts";
import { createProvisioning } from "./registration/provisioning.ts";
import { createStatusTransitions } from "./statuses/change-status.ts";

/** The parts of a process that the service opens, or a command in its place. */
export interface Opened {
  readonly pool: Pool;
  readonly outbox: Outbox;
  /** The access states that this process's own edge enforces; absent in a process without an edge. */
  readonly accessStates?: Pick<AccessStates, "apply">;
}

/** The part of the service that every capability builds on. */
export type Base = ReturnType<typeof openBase>;

/** Opens the accounts, with what a change of one takes along: audit entry, events, announcement, mail. */
export function openBase(context: Configured, { pool, outbox, accessStates }: Opened) {
  const { configuration, clock, log, metrics, tracer } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const accountStore = createAccountStore(pool);
  const audit = createAudit({ clock, tracer });
  const auditRefusals = createAuditRefusals({
    clock,
    log,
    metrics,
    write: (refusal) => audit.recordRefusal(pool, refusal),
  });
  const access = createAccessAnnouncements({ pool, outbox, clock, accessStates });
  const mails = createMails(context, pool, sealer);
  const notices = createNotices({ mails, clock });
  const accountRecords = createAccountRecords({ audit, outbox });
  const verifiedAddresses = createVerifiedAddresses({ pool, accountStore, accountRecords, clock });
  const statusTransitions = createStatusTransitions({
    accountStore,
    verifiedAddresses,
    access,
    outbox,
    audit,
    notices,
    clock,
    retentionDays: () => configuration.get("account.retention-days"),
  });
  const firstValues = () => ({
    supportedLocales: configuration.get("supported.locales"),
    defaultLocale: configuration.get("defaults.locale"),
    requireVerifiedContact: configuration.get("account.require-verified-contact"),
  });
  const provisioning = createProvisioning({ pool, accountStore, verifiedAddresses, outbox, audit, clock, firstValues });
  return {
    pool,
    sealer,
    outbox,
    accountStore,
    accountRecords,
    audit,
    auditRefusals,
    access,
    mails,
    notices,
    verifiedAddresses,
    statusTransitions,
    provisioning,
    firstValues,
  };
}
