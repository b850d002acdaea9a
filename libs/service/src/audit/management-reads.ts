import type { Principal } from "@signalbox/auth";
import type { EventDraft } from "@signalbox/contracts";
import type { ServiceContext } from "@signalbox/runtime";
import { audited } from "./audit-entry.ts";
import { createAuditReads } from "./audit-reads.ts";

type Context = Pick<ServiceContext<unknown>, "service" | "clock" | "log">;

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
