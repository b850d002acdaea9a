import { draft, type EventDraft } from "@signalbox/contracts";

/** Returns the change of config's canary, which every instance reads where it reads the overrides. */
export const canaryChanges = (at: Date): EventDraft[] => [
  draft("config.canary_changed", { subject: "canary", accountId: null, data: { changed_at: at.toISOString() } }),
];
