import { type Caller, requireScopes, requireStepUp } from "@signalbox/auth";
import { PortalSessionResource, portalSessionExample, scopesOfRole } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { PageLimits } from "@signalbox/graphql";
import { created, ok } from "@signalbox/http";
import { type Edges, edgesOf, list, operation, record, tooMany } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import type { Audit } from "../audit/audit-log.ts";
import { creatorOf, keyEndOf, requireWritable } from "../credentials/credential.ts";
import { ownAccount } from "../profile/account-api.ts";
import type { Accounts } from "../profile/accounts.ts";
import type { EndpointCheck } from "./endpoint-check.ts";
import {
  makePortalSession,
  NewPortalSession,
  type PortalSession,
  PortalSessionWithUrl,
  scopesOfAccess,
  viewPortalSession,
} from "./portal-session.ts";
import type { PortalSessionStore } from "./portal-session-store.ts";

interface Dependencies {
  readonly portalSessionStore: PortalSessionStore;
  readonly audit: Pick<Audit, "record">;
  readonly access: Pick<AccessAnnouncements, "announce">;
  readonly clock: Clock;
}

type CreateOutcome =
  | { outcome: "created"; session: PortalSession; secret: string }
  | { outcome: "needs-endpoints" }
  | { outcome: "limit-reached"; max: number };

/** Live sessions of one account: more than subscribers who look at once, and a bound for a program that makes them in vain. */
const liveMax = 1_000;

type PortalSessions = ReturnType<typeof createPortalSessions>;

/** The sessions of the portal: made for a subscriber, and ended before their time. */
export function createPortalSessions({ portalSessionStore, audit, access, clock }: Dependencies) {
  return {
    /** Creates a session of a locked account, with no more permissions than its creator has. */
    async create(tx: Tx, caller: Caller, account: Account, wanted: NewPortalSession): Promise<CreateOutcome> {
      requireWritable(account);
      requireScopes(caller, scopesOfAccess[wanted.access]);
      if (wanted.access === "manage") requireStepUp(caller, clock);
      // An administrator's account may have endpoints with the events of all accounts.
      if (wanted.endpoint_ids === null && isAdministrator(caller, account)) return { outcome: "needs-endpoints" };
      const now = clock.now();
      if ((await portalSessionStore.countLive(tx, account.id, now)) >= liveMax)
        return { outcome: "limit-reached", max: liveMax };
      const origin = { accountId: account.id, createdBy: creatorOf(caller), endsBy: keyEndOf(caller) };
      const { session, secret } = makePortalSession(wanted, origin, now);
      await portalSessionStore.insert(tx, session);
      const fields = ["endpoint_ids", "access", "expires_at"];
      await audit.record(tx, caller, { action: "portal_session.create", subject: session.id, fields });
      return { outcome: "created", session, secret };
    },

    /** Ends a session at once, everywhere. One that has ended stays as it is. */
    async end(tx: Tx, caller: Caller, session: PortalSession): Promise<void> {
      const now = clock.now();
      if (session.endedAt !== null || session.expiresAt <= now) return;
      await portalSessionStore.save(tx, { ...session, endedAt: now });
      const { id, accountId } = session;
      await audit.record(tx, caller, { action: "portal_session.end", subject: id, fields: ["status"] });
      await access.announce(tx, { kind: "token", id, accountId, state: "revoked", epoch: 1 });
    },
  };
}

/** Roles are granted here, or come with the tokens of another issuer. */
const isAdministrator = ({ roles }: Caller, account: Account): boolean =>
  scopesOfAccount(account).has("account:admin") || roles.some((role) => scopesOfRole(role).includes("account:admin"));

export interface PortalSessionApi {
  readonly portalSessions: PortalSessions;
  readonly portalSessionStore: PortalSessionStore;
  readonly accounts: Pick<Accounts, "lock">;
  readonly checkEndpoints: EndpointCheck;
  /** `http.base-url` */
  readonly baseUrl: string;
  readonly pageLimits: PageLimits;
  readonly clock: Clock;
}

const base = "/api/v1/webhooks/portal-sessions";
const one = `${base}/:session_id` as const;
const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const missing = "There is no such portal session.";

/** The sessions of the portal, at REST alone: they are made by the backend of a product, not by a page. */
export function portalSessionApi(parts: PortalSessionApi): Edges {
  return edgesOf(
    { ...declareReads(parts), ...declareWrites(parts) },
    { errors: "account", exampleIds: { session_id: portalSessionExample.id } },
  );
}

function declareReads({ portalSessionStore, pageLimits, clock }: PortalSessionApi) {
  const view = (session: PortalSession) => viewPortalSession(session, clock.now());
  return {
    portalSessions: list({
      summary: "List portal sessions, newest first",
      description: "Those of the last day, without their links.",
      auth: read,
      limits: pageLimits,
      read: (range, { caller }) => portalSessionStore.list(caller.accountId, range),
      rest: { get: base, item: PortalSessionResource, view },
      graph: null,
    }),
    currentPortalSession: record({
      summary: "Read the portal session of this request",
      description: "For the portal itself: its endpoints, its access, its theme and its end.",
      auth: { ...read, portal: true },
      find: ({ caller: { accountId, credential } }) => portalSessionStore.find(accountId, credential.id),
      missing: "This request did not come from a portal session.",
      rest: { get: `${base}/current`, resource: PortalSessionResource, answer: (session) => ok(view(session)) },
    }),
  };
}

function declareWrites({
  portalSessions,
  portalSessionStore,
  accounts,
  checkEndpoints,
  baseUrl,
  clock,
}: PortalSessionApi) {
  return {
    createPortalSession: operation({
      summary: "Make a link into the portal for a subscriber",
      description:
        "For your own backend: give the link to the subscriber, or frame it in a page of an origin in `console.portal.origins`. Needs every scope of the `access`; `manage` needs a recent sign-in, or a key with `account:security`.",
      auth: { ...write, stepUpFor: "the access `manage`" },
      audit: "portal_session.create",
      input: NewPortalSession,
      of: ownAccount(accounts),
      prepare: async ({ caller, input: { endpoint_ids: ids } }) => {
        if (ids !== null) await checkEndpoints(caller.accountId, ids);
      },
      change: (tx, account, { caller, input }) => portalSessions.create(tx, caller, account, input),
      refusals: {
        "needs-endpoints": {
          code: "validation_error",
          message: "Name the endpoints: an administrator's account may have some with the events of all accounts.",
          details: [{ field: "endpoint_ids", code: "required", message: "Required for an administrator's account." }],
        },
        "limit-reached": ({ max }) =>
          tooMany("portal_sessions", `The account has ${max} live portal sessions; end some, or wait for their end.`),
      },
      rest: {
        post: base,
        responses: { 201: PortalSessionWithUrl, 409: "error" },
        idempotent: "sealed",
        answer: ({ session, secret }) =>
          created(`${base}/${session.id}`, {
            ...viewPortalSession(session, clock.now()),
            url: `${baseUrl}/console/portal/#${secret}`,
          }),
      },
    }),
    endPortalSession: operation({
      summary: "End a portal session",
      description: "Its link stops working everywhere within two seconds. Ending it again changes nothing.",
      auth: write,
      audit: "portal_session.end",
      of: {
        find: (tx, { caller, params }) => portalSessionStore.lock(tx, caller.accountId, params.session_id),
        missing,
      },
      change: (tx, session, { caller }) => portalSessions.end(tx, caller, session),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true },
    }),
  };
}
