import { credentials } from "./credentials.ts";
import { crossAccount } from "./cross-account.ts";
import { graphql } from "./graphql.ts";
import type { Group } from "./group.ts";
import { hostileServers } from "./hostile-servers.ts";
import { http } from "./http.ts";
import { ingestTokens } from "./ingest-tokens.ts";
import { leases } from "./leases.ts";
import { limits } from "./limits.ts";
import { neighbours } from "./neighbours.ts";
import { oauth } from "./oauth.ts";
import { portal } from "./portal.ts";
import { publishedEvents } from "./published-events.ts";
import { scopes } from "./scopes.ts";
import { secrets } from "./secrets.ts";
import { senderCertificates } from "./sender-certificates.ts";
import { ssrf } from "./ssrf.ts";
import { why } from "./why.ts";

/** All tables of the suite, in the order in which they run. */
export const groups: readonly Group[] = [
  credentials,
  crossAccount,
  portal,
  leases,
  publishedEvents,
  scopes,
  why,
  ingestTokens,
  senderCertificates,
  ssrf,
  hostileServers,
  http,
  graphql,
  secrets,
  oauth,
  neighbours,
  limits,
];
