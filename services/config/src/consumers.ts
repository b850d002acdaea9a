import type { ConsumerTable } from "@signalbox/events";
import type { ConfigService } from "./context/config-service.ts";
import { flagRevisions } from "./flags/flag-store.ts";
import { flagChanged } from "./flags/flags.ts";
import { eraseReasons, lockRevisions } from "./overrides/override-store.ts";
import { overrideChanged } from "./overrides/overrides.ts";

/**
 * Reactions to events of accounts: the reasons that a purged account gave are erased. The log keeps the newest change of
 * each property and flag forever, so those are published again.
 */
export const accountEvents = (service: ConfigService): ConsumerTable => ({
  "account.deleted": async ({ subject }, { tx }) => {
    await lockRevisions(tx);
    const overrides = (await eraseReasons(tx, subject)).map((change) => overrideChanged(service, change));
    const flags = (await flagRevisions.erase(tx, subject)).map(flagChanged);
    await service.outbox.append(tx, [...overrides, ...flags]);
  },
});
