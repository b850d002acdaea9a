import type { ConsumerTable } from "@signalbox/events";
import type { Verbs } from "./service.ts";

/** What this service does when it hears of what others did. */
export function createConsumerTable({ deleteSourcesOfAccount }: Verbs): ConsumerTable {
  return {
    "account.deleted": (event, { tx }) => deleteSourcesOfAccount(tx, event.subject),
  };
}
