import { accessTopic, stepUpMaxAgeMs } from "@signalbox/auth";
import { hours, minutes, seconds } from "@signalbox/core";
import { type EventLog, restoreWhenReplaced } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { inTransaction, type RetentionRule, startRetention } from "@signalbox/storage";
import type { Base } from "./base.ts";
import type { ApiKeys } from "./credentials/api-keys.ts";
import type { ServiceClients } from "./credentials/service-clients.ts";
import type { AccountPurge } from "./deletion/account-purge.ts";
import { firstLinkRetention } from "./first-link/first-link.ts";
import type { BuiltInIssuer } from "./identity/issuer.ts";
import { invitationRetention } from "./invitations/invitation-store.ts";
import { noticeRetention } from "./notices/notices.ts";
import { portalSessionRetention } from "./portal-sessions/portal-session-store.ts";
import type { Properties } from "./properties.ts";
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

interface WorkerDependencies {
  readonly base: Pick<Base, "pool" | "verifiedAddresses" | "access" | "mails">;
  readonly apiKeys: Pick<ApiKeys, "announceExpired">;
  readonly serviceClients: Pick<ServiceClients, "announceExpired">;
  readonly accountPurge: AccountPurge;
  readonly auditDayTables: { keep(): Promise<unknown> };
  readonly issuer: BuiltInIssuer | null;
  readonly eventLog: Pick<EventLog, "onReplaced">;
}

/** Starts the service's own long-running workers. */
export function startWorkers(
  { runner, clock }: Pick<ServiceContext<Properties>, "runner" | "clock">,
  { base, apiKeys, serviceClients, accountPurge, auditDayTables, issuer, eventLog }: WorkerDependencies,
): void {
  const { pool, verifiedAddresses, access, mails } = base;
  const every = (name: string, pauseMs: number, work: () => Promise<unknown>) =>
    runner.every(name, pauseMs, async () => void (await work()));

  every("verified addresses", minutes(1), verifiedAddresses.settle);
  every("access repetition", minutes(1), () => access.repeat());
  restoreWhenReplaced(runner, eventLog, accessTopic, () => access.repeat(1));
  // An index finds in a moment that nothing is due, and an end is announced within its second.
  for (const [kind, { announceExpired }] of Object.entries({ "API key": apiKeys, "service client": serviceClients })) {
    runner.every(`${kind} expiry`, seconds(1), () => inTransaction(pool, announceExpired));
  }
  every("account purge", minutes(1), accountPurge.run);
  every("audit days", minutes(1), auditDayTables.keep);
  mails.startWorker(runner);
  startRetention({ runner, pool, clock }, retention);
  issuer?.startWorkers(runner);
}
