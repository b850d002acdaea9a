import { WebhookSourceResource } from "@signalbox/contracts";
import { exportRoutes } from "@signalbox/http";
import type { Verbs } from "../service.ts";
import { viewSource } from "../sources/source.ts";
import { readSourceCursor, sourceCursor } from "../sources/source-routes.ts";

/** What the account service asks for when somebody exports their account. */
export function exportedSources({ sources }: Pick<Verbs, "sources">) {
  return exportRoutes({
    item: WebhookSourceResource,
    list: (accountId, { cursor, limit }) =>
      sources.list(accountId, limit, cursor === undefined ? undefined : readSourceCursor(cursor)),
    view: viewSource,
    cursorOf: sourceCursor,
  });
}
