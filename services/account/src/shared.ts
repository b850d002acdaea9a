import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { AuditRefusals } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import type { AccessAnnouncements } from "./access/access-announcements.ts";
import type { AccountStore } from "./accounts/account-store.ts";
import type { Audit } from "./audit/audit.ts";
import type { VerifiedAddresses } from "./contacts/verified-addresses.ts";

/** The parts that most operations work with, under one name each. A folder picks those it calls. */
export interface Shared {
  readonly pool: Pool;
  readonly accounts: AccountStore;
  /** Records changes and their actors, in the transaction of the change. */
  readonly audit: Audit;
  readonly auditRefusals: AuditRefusals;
  /** Announces changes of access to every service, in the transaction of the change. */
  readonly access: AccessAnnouncements;
  /** Keeps a verified address with one living account. */
  readonly verifiedAddresses: VerifiedAddresses;
  readonly outbox: Pick<Outbox, "append">;
  readonly clock: Clock;
}
