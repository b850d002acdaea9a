import type { ConsumerTable } from "@signalbox/events";
import type { ConfigService } from "./context/config-service.ts";
import { eraseReasonsOfFlags } from "./flags/flags.ts";
import { eraseOverrideReasons } from "./overrides/overrides.ts";

/** Reactions to events of accounts: the reasons that a purged account gave are erased. */
export const accountEvents = (service: ConfigService): ConsumerTable => ({
  "account.deleted": async ({ subject }, { tx }) => {
    await eraseOverrideReasons(service, tx, subject);
    await eraseReasonsOfFlags(service, tx, subject);
  },
});
