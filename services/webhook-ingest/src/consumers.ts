import type { ConsumerTable } from "@signalbox/events";
import type { IngestService } from "./context/ingest-service.ts";
import { deleteSourcesOf } from "./sources/sources.ts";

export const accountEvents = (service: IngestService): ConsumerTable => ({
  "account.deleted": ({ subject }, { tx }) => deleteSourcesOf(service, tx, subject),
});
