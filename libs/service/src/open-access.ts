import {
  type AccessStates,
  type Authenticator,
  createAuthenticator,
  createManagementAuthorizer,
  createPrincipalClient,
  followAnnouncements,
  type internalProperties,
  openAccessStates,
  type PrincipalSource,
  type principalProperties,
} from "@signalbox/auth";
import type { EventDraft } from "@signalbox/contracts";
import { type EventLog, publishEvents } from "@signalbox/events";
import type { ForbiddenRequest } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";
import { createManagementReads, type RecordManagementRead } from "./audit/audit-reads.ts";
import { createRefusalRecorder } from "./audit/audit-refusals.ts";
import { observeAccessCanary } from "./canary/canary-age.ts";
import { type EdgeLimits, failureCounter } from "./open-edge-limits.ts";
import type { SharedParts } from "./shared-parts.ts";

type Context = ServiceContext<typeof internalProperties & typeof principalProperties>;

interface AccessParts {
  readonly states: AccessStates;
  readonly principals: PrincipalSource;
  readonly rateLimits: EdgeLimits["rateLimits"];
  readonly recordRead: RecordManagementRead;
}

export interface Access {
  readonly authenticator: Authenticator;
  readonly accessStates: AccessStates;
  readonly authorizeManagement: ReturnType<typeof createManagementAuthorizer>;
}

/** Opens the states of accounts: shares the process's reader of the state topic where there is one. */
export async function openStates(
  context: ServiceContext<unknown> & SharedParts,
  eventLog: EventLog,
): Promise<AccessStates> {
  const states = context.accessStates ?? (await openAccessStates({ ...context, eventLog }));
  observeAccessCanary(context, states);
  return states;
}

/**
 * Opens the authentication of callers and the access of their accounts, for a service without a database: what its
 * audit has goes to the log directly.
 */
export async function openAccess(
  context: Context & SharedParts,
  eventLog: EventLog,
  rateLimits: EdgeLimits["rateLimits"],
): Promise<Access & { readonly onForbidden: (request: ForbiddenRequest) => void }> {
  const states = await openStates(context, eventLog);
  const send = (entry: EventDraft<"audit.recorded">) => publishEvents({ ...context, eventLog }, [entry]);
  const recordRead = createManagementReads(context, send);
  const access = accessOf(context, { states, principals: openPrincipals(context), rateLimits, recordRead });
  return { ...access, onForbidden: createRefusalRecorder(context, send) };
}

/** Creates the access checks from the states and account's answers. */
export function accessOf(
  { configuration, clock, metrics, runner }: Context,
  { states, principals, rateLimits, recordRead }: AccessParts,
): Access {
  const accessStates = followAnnouncements(states, { principals, runner });
  const cacheMax = configuration.get("auth.principals.cache-max");
  const authenticator = createAuthenticator({ principals, accessStates, clock, metrics, cacheMax });
  const authorizeManagement = createManagementAuthorizer({
    ...authenticator,
    countFailure: failureCounter(rateLimits),
    recordRead,
  });
  return { authenticator, accessStates, authorizeManagement };
}

/** Opens the client that resolves credentials at account over the network. */
export function openPrincipals({ configuration, clock, runner }: Context): PrincipalSource {
  const [token = ""] = configuration.get("internal.token");
  return createPrincipalClient({ url: configuration.get("account.internal-url"), token, clock, runner });
}
