import { mayAccess } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import type { IngestService } from "../context/ingest-service.ts";
import type { Source } from "./source.ts";

/** Returns true when the account may receive webhooks now. Ingest has no authentication that would say so. */
export function mayReceive({ accessStates }: IngestService, accountId: string): boolean {
  if (!accessStates.isCaughtUp())
    throw new AppError("unavailable", "The access states are being read.", { retryAfterSeconds: 1 });
  return mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
}

/** Returns true when the source and its account accept webhooks now. A stopped source does, and drops them. */
export const isOpen = (service: IngestService, source: Source): boolean =>
  source.status !== "paused" && mayReceive(service, source.accountId);

export const areIntegrationsEnabled = ({ configuration }: IngestService): boolean =>
  configuration.get("features.integrations") !== "disabled";
