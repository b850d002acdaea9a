import type { ConsumerTable } from "@signalbox/events";
import type { Verbs } from "./service.ts";

/** What this service does when it hears of what others did. */
export function createConsumerTable({ deleteImagesOfAccount, settleRendering }: Verbs): ConsumerTable {
  return {
    "account.deleted": (event, { tx }) => deleteImagesOfAccount(tx, event.subject),
    "image.rendered": (event, { tx }) => settleRendering(tx, event.data),
  };
}
