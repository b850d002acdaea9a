import { type Caller, requireScopes, requireStepUp } from "@signalbox/auth";
import {
  exampleOf,
  KnownEndpoints,
  knownEndpointsPath,
  PortalSessionResource,
  scopesOfRole,
  viewOf,
} from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { created, ok } from "@signalbox/http";
import { sendTwice } from "@signalbox/net";
import { type Edges, edgesOf, list, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { announceAccess } from "../access/access-announcements.ts";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { creatorOf, keyEndOf, requireWritable } from "../credentials/credential.ts";
import { ownAccount } from "../profile/account-api.ts";
import {
  makePortalSession,
  NewPortalSession,
  type PortalSession,
  PortalSessionWithUrl,
  scopesOfAccess,
  statusOfPortalSession,
} from "./portal-session.ts";
import {
  countLivePortalSessions,
  findPortalSession,
  insertPortalSession,
  listPortalSessions,
  lockPortalSession,
  savePortalSession,
} from "./portal-session-store.ts";

type CreateOutcome =
  | { outcome: "created"; session: PortalSession; secret: string }
  | { outcome: "needs-endpoints" }
  | { outcome: "limit-reached"; max: number };

/** Live sessions of one account: more than subscribers who look at once, and a bound for a program that makes them in vain. */
const liveMax = 1_000;

// The sessions of the portal: made for a subscriber, and ended before their time.

/** Creates a session of a locked account, with no more permissions than its creator has. */
async function createPortalSession(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  wanted: NewPortalSession,
): Promise<CreateOutcome> {
  requireWritable(account);
  requireScopes(caller, scopesOfAccess[wanted.access]);
  if (wanted.access === "manage") requireStepUp(caller, service.clock);
  // An administrator's account may have endpoints with the events of all accounts.
  if (wanted.endpoint_ids === null && isAdministrator(caller, account)) return { outcome: "needs-endpoints" };
  const now = service.clock.now();
  if ((await countLivePortalSessions(tx, account.id, now)) >= liveMax)
    return { outcome: "limit-reached", max: liveMax };
  const origin = { accountId: account.id, createdBy: creatorOf(caller), endsBy: keyEndOf(caller) };
  const { session, secret } = makePortalSession(wanted, origin, now);
  await insertPortalSession(tx, session);
  const fields = ["endpoint_ids", "access", "expires_at"];
  await recordInAudit(service, tx, caller, { action: "portal_session.create", subject: session.id, fields });
  return { outcome: "created", session, secret };
}

/**
 * Asks webhook-delivery for endpoints that the account does not have; without its address every id passes.
 *
 * @throws AppError `not_found` that names each of them
 */
async function checkEndpoints(
  { endpointClient: client }: AccountService,
  accountId: string,
  endpointIds: readonly string[],
): Promise<void> {
  if (client === null) return;
  const path = knownEndpointsPath.replace(":account_id", encodeURIComponent(accountId));
  const question = JSON.stringify({ endpoint_ids: endpointIds });
  const { status, body } = await sendTwice(() => client.post(path, question));
  if (status !== 200) throw new AppError("unavailable", `The webhook-delivery service answered ${status}.`);
  const known = new Set(KnownEndpoints.parse(JSON.parse(body.toString())).endpoint_ids);
  const details = endpointIds.flatMap((id, index) => {
    if (known.has(id)) return [];
    const message = `The account has no endpoint ${id}.`;
    return [{ field: `endpoint_ids[${index}]`, code: "invalid_value", message } as const];
  });
  if (details.length === 0) return;
  throw new AppError("not_found", "A portal session can only name existing endpoints.", { details });
}

/** Ends a session at once, everywhere. One that has ended stays as it is. */
async function endPortalSession(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  session: PortalSession,
): Promise<void> {
  const now = service.clock.now();
  if (session.endedAt !== null || session.expiresAt <= now) return;
  await savePortalSession(tx, { ...session, endedAt: now });
  const { id, accountId } = session;
  await recordInAudit(service, tx, caller, { action: "portal_session.end", subject: id, fields: ["status"] });
  await announceAccess(service, tx, { kind: "token", id, accountId, state: "revoked", epoch: 1 });
}

/** Roles are granted here, or come with the tokens of another issuer. */
const isAdministrator = ({ roles }: Caller, account: Account): boolean =>
  scopesOfAccount(account).has("account:admin") || roles.some((role) => scopesOfRole(role).includes("account:admin"));

const base = "/api/v1/webhooks/portal-sessions";
const one = `${base}/:session_id` as const;
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const missing = "There is no such portal session.";

/** The sessions of the portal, at REST alone: they are made by the backend of a product, not by a page. */
export function portalSessionApi(service: AccountService): Edges {
  return edgesOf(
    { ...declareReads(service), ...declareWrites(service) },
    { errors: "account", exampleIds: { session_id: exampleOf(PortalSessionResource).id } },
  );
}

const viewPortalSession = viewOf(PortalSessionResource, (session: PortalSession, now: Date) => ({
  status: statusOfPortalSession(session, now),
}));

function declareReads({ clock, pageLimits, pool }: AccountService) {
  const view = (session: PortalSession) => viewPortalSession(session, clock.now());
  return {
    portalSessions: list({
      summary: "List portal sessions, newest first",
      description: "Sessions of the last day, without their links.",
      auth: read,
      limits: pageLimits,
      read: (range, { caller }) => listPortalSessions(pool, caller.accountId, range),
      rest: { get: base, item: PortalSessionResource, view },
      graph: null,
    }),
    currentPortalSession: record({
      summary: "Read the portal session of this request",
      description: "For the portal itself: endpoints, access, theme and expiry of the session.",
      auth: { ...read, portal: true },
      find: ({ caller: { accountId, credential } }) => findPortalSession(pool, accountId, credential.id),
      missing: "This request did not come from a portal session.",
      rest: { get: `${base}/current`, resource: PortalSessionResource, answer: (session) => ok(view(session)) },
    }),
  };
}

function declareWrites(service: AccountService) {
  return {
    createPortalSession: operation({
      summary: "Create a portal link for a subscriber",
      description:
        "For your backend: give the link to the subscriber, or embed it in a page of an origin in `console.portal.origins`. Needs every scope of the `access`; `manage` needs a recent sign-in, or a key with `account:security`.",
      auth: { ...write, stepUpFor: "the access `manage`" },
      audit: "portal_session.create",
      input: NewPortalSession,
      of: ownAccount(service),
      prepare: async ({ caller, input: { endpoint_ids: ids } }) => {
        if (ids !== null) await checkEndpoints(service, caller.accountId, ids);
      },
      change: (tx, account, { caller, input }) => createPortalSession(service, tx, caller, account, input),
      refusals: {
        "needs-endpoints": {
          code: "validation_error",
          message:
            "Name the endpoints: an administrator's account may have endpoints that receive the events of all accounts.",
          details: [{ field: "endpoint_ids", code: "required", message: "Required for an administrator's account." }],
        },
        "limit-reached": ({ max }) =>
          tooMany(
            "portal_sessions",
            `The account has ${max} active portal sessions; end some, or wait until they expire.`,
          ),
      },
      rest: {
        post: base,
        responses: { 201: PortalSessionWithUrl, 404: "error", 409: "error" },
        idempotent: "sealed",
        answer: ({ session, secret }) =>
          created(`${base}/${session.id}`, {
            ...viewPortalSession(session, service.clock.now()),
            url: `${service.configuration.get("http.base-url")}/console/portal/#${secret}`,
          }),
      },
    }),
    endPortalSession: operation({
      summary: "End a portal session",
      description: "Its link stops working everywhere within two seconds. Ending it again changes nothing.",
      auth: write,
      audit: "portal_session.end",
      of: {
        find: (tx, { caller, params }) => lockPortalSession(tx, caller.accountId, params.session_id),
        missing,
      },
      change: (tx, session, { caller }) => endPortalSession(service, tx, caller, session),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true },
    }),
  };
}
