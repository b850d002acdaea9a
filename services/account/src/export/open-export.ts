import { internalTokenHeader } from "@signalbox/auth";
import { MiB, seconds } from "@signalbox/core";
import { createInternalClient } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";
import { viewOwnAuditEntry } from "../audit/audit-entry.ts";
import { viewApiKey } from "../credentials/api-key.ts";
import { viewServiceClient } from "../credentials/service-client.ts";
import type { Properties } from "../properties.ts";
import type { Verbs } from "../verbs.ts";
import { createExportAccount } from "./export-account.ts";
import { ownSection } from "./export-section.ts";
import { remoteSection } from "./remote-section.ts";

/** What other services hold for an account, by the member of the document that has it. */
const heldElsewhere = [
  ["images", "images.internal-url"],
  ["webhook_sources", "webhook-ingest.internal-url"],
  ["webhook_endpoints", "webhook-delivery.internal-url"],
] as const;

/** The export of an account, from this service's own lists and those of others. */
export function openExport({ configuration, runner }: ServiceContext<Properties>, pool: Pool, verbs: Verbs) {
  const { accounts, identities, keys, clients, auditEntries, audit, clock } = verbs;
  const own = [
    ownSection("identities", {
      // One page: an account has a bounded few.
      list: (accountId) => identities.list(accountId),
      positionOf: () => null,
      view: ({ issuer, subject, createdAt }) => ({ issuer, subject, created_at: createdAt.toISOString() }),
    }),
    ownSection("api_keys", {
      list: keys.list,
      positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      view: (key) => viewApiKey(key, clock.now()),
    }),
    ownSection("service_clients", {
      list: clients.list,
      positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      view: (client) => viewServiceClient(client, clock.now()),
    }),
    ownSection("audit", { list: auditEntries.list, positionOf: ({ id }) => id, view: viewOwnAuditEntry }),
  ];
  const remote = heldElsewhere.flatMap(([name, property]) => {
    const url = configuration.get(property);
    if (url === null) return [];
    const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
    const client = createInternalClient({ url, headers, deadlineMs: seconds(10), responseBytesMax: 16 * MiB });
    runner.defer(`${name} client`, () => client.close());
    return [remoteSection(name, client)];
  });
  const asked = new Set(remote.map(({ name }) => name));
  const leftOut = heldElsewhere.map(([name]) => name).filter((name) => !asked.has(name));
  return createExportAccount({ pool, accounts, audit, clock, sections: [...own, ...remote], leftOut });
}
