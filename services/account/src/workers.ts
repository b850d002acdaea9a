import { accessTopic, stepUpMaxAgeMs } from "@signalbox/auth";
import { hours, minutes, seconds } from "@signalbox/core";
import { type EventLog, restoreWhenReplaced } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { createDayTables, dayMs, inTransaction, type RetentionRule, startRetention } from "@signalbox/storage";
import { repeatAccess } from "./access/access-announcements.ts";
import { auditDays } from "./audit/audit-entry.ts";
import { settleAddresses } from "./contacts/verified-addresses.ts";
import type { AccountService } from "./context/account-service.ts";
import { apiKeyKind } from "./credentials/api-key.ts";
import type { Credential } from "./credentials/credential.ts";
import { announceExpired, type CredentialKind } from "./credentials/credentials.ts";
import { serviceClientKind } from "./credentials/service-client.ts";
import { purgeDueAccounts } from "./deletion/account-purge.ts";
import { firstLinkRetention } from "./first-link/first-link.ts";
import type { IdentityService } from "./identity/identity-service.ts";
import { startIssuerWorkers } from "./identity/issuer.ts";
import { invitationRetention } from "./invitations/invitation-store.ts";
import { noticeRetention } from "./notices/notices.ts";
import { portalSessionRetention } from "./portal-sessions/portal-session-store.ts";
import type { Properties } from "./properties.ts";
import { publishRefusals } from "./sign-ins/sign-in-events.ts";
import { signInMailRetention } from "./sign-ins/sign-in-mails.ts";
import { signInRetention } from "./sign-ins/sign-in-store.ts";

/** Time for which useless rows are kept. */
export const retention: readonly RetentionRule[] = [
  // Long enough to count the codes of the last hour, and to answer a late person that the code has expired.
  { name: "code retention", table: "one_time_codes", column: "expires_at", keepMs: hours(24) },
  // Long enough to answer a late person that the link has expired, rather than that it is unknown.
  { name: "contact link retention", table: "contact_links", column: "expires_at", keepMs: hours(24 * 30) },
  firstLinkRetention,
  invitationRetention,
  signInMailRetention,
  ...signInRetention,
  { name: "step-up allowance retention", table: "step_up_allowances", column: "last_used_at", keepMs: hours(1) },
  noticeRetention,
  portalSessionRetention,
  { name: "step-up retention", table: "step_ups", column: "at", keepMs: stepUpMaxAgeMs },
];

interface WorkerContexts {
  readonly service: AccountService;
  readonly identity: IdentityService | null;
  readonly eventLog: EventLog;
}

export function startWorkers(
  { runner, clock }: ServiceContext<Properties>,
  { service, identity, eventLog }: WorkerContexts,
): void {
  const { pool, configuration, mails } = service;
  const every = (name: string, pauseMs: number, work: () => Promise<unknown>) =>
    runner.every(name, pauseMs, async () => void (await work()));

  every("verified addresses", minutes(1), () => settleAddresses(service));
  every("access repetition", minutes(1), () => repeatAccess(service));
  restoreWhenReplaced(runner, eventLog, accessTopic, () => repeatAccess(service, 1));
  // An index finds in a moment that nothing is due, and an end is announced within its second.
  const expire = <C extends Credential>(name: string, kind: CredentialKind<C>) =>
    runner.every(name, seconds(1), () => inTransaction(pool, (tx) => announceExpired(service, tx, kind)));
  expire("API key expiry", apiKeyKind);
  expire("service client expiry", serviceClientKind);
  every("refused sign-ins", seconds(10), () => publishRefusals(service));
  every("account purge", minutes(1), () => purgeDueAccounts(service));
  const keepMs = () => configuration.get("account.audit.retention-days") * dayMs;
  const auditDayTables = createDayTables({ pool, clock, keepMs }, [auditDays]);
  every("audit days", minutes(1), auditDayTables.keep);
  mails.startWorker(runner);
  startRetention({ runner, pool, clock }, retention);
  if (identity) startIssuerWorkers(identity, runner);
}
