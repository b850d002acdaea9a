import { type Caller, requireScopes } from "@signalbox/auth";
import { exampleOf, InvitationResource } from "@signalbox/contracts";
import {
  connectionField,
  created,
  field,
  filterFrom,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Refusal,
  type Routes,
  refused,
} from "@signalbox/http";
import { conflict, type Edges, edgesOf, type OwnRow, operation, tooMany } from "@signalbox/service";
import { z } from "zod";
import type { AccountService } from "../context/account-service.ts";
import {
  type Invitation,
  InvitationWithLink,
  isOfOwnAccount,
  newInvitation,
  statusOfInvitation,
  viewInvitation,
} from "./invitation.ts";
import { findInvitation, listInvitations, lockInvitation } from "./invitation-store.ts";
import { createInvitation, resendInvitation, revokeInvitation, type SentInvitation } from "./invitations.ts";

const base = "/api/v1/invitations/";
const one = `${base}:invitation_id` as const;
const read = { scopes: ["account:admin"], scopesOfOwn: ["account:security"] } as const;
const write = { ...read, stepUp: true } as const;
const missing = "There is no such invitation.";
const filter = {
  account_id: z
    .string()
    .optional()
    .describe("`mine`, or the id of the account that the credential acts for: only invitations into it."),
  status: InvitationResource.shape.status.optional().describe("Only invitations with this status."),
};
const Filter = z.strictObject(filter);

/** The invitations to this deployment, for administrators, and into an account, for its owners, at both edges. */
export function invitationApi(service: AccountService): Edges {
  const fields = {
    Query: { invitations: allInvitations(service), invitation: invitationById(service) },
    Invitation: {
      status: (invitation: Invitation) => statusOfInvitation(invitation, service.clock.now()),
      scopesMax: ({ scopesMax }: Invitation) => (scopesMax.length === 0 ? null : scopesMax),
      accountId: ({ memberRole, accountId }: Invitation) => memberRole && accountId,
      role: ({ memberRole, role }: Invitation) => memberRole ?? role,
      invitedBy: ({ inviterId, accountId }: Invitation) => inviterId ?? accountId,
      mailedAt: ({ mailed }: Invitation) => mailed.at(-1) ?? null,
    },
  };
  const exampleIds = { invitation_id: exampleOf(InvitationResource).id };
  const edges = edgesOf(
    { ...declareInvitation(service), ...declareChanges(service) },
    { errors: "account", exampleIds, fields },
  );
  addReads(service, edges.routes);
  return edges;
}

const limitRefusals = {
  "limit-reached": ({ max }: { readonly max: number }) =>
    tooMany("invitations", `You have ${max} open invitations, or sent that many within an hour; revoke some or wait.`),
  "address-limit": tooMany("address", "This address was sent five invitations within a day; wait until tomorrow."),
};

const unprocessable = (field: string, code: "passed" | "too_big" | "not_allowed" | "required", message: string) =>
  ({ code: "validation_error", message, details: [{ field, code, message }] }) satisfies Refusal;

const createRefusals = {
  ...limitRefusals,
  "invalid-end": ({ why }: { readonly why: "passed" | "too_big" }) =>
    unprocessable("expires_at", why, why === "passed" ? "This time has passed." : "Must be at most 30 days from now."),
  "beyond-role": ({ scopes }: { readonly scopes: readonly string[] }) =>
    unprocessable("scopes_max", "not_allowed", `The role does not include ${scopes.join(" and ")}.`),
  "other-account": unprocessable(
    "account_id",
    "not_allowed",
    "Use `mine`: a credential can only invite into the account that it acts for.",
  ),
  "role-needed": unprocessable("role", "required", "Choose `viewer`, `developer` or `owner`."),
  "other-role": unprocessable(
    "role",
    "not_allowed",
    "`developer` is a role in an account, `operator` and `admin` are not.",
  ),
  "no-bound": unprocessable("scopes_max", "not_allowed", "The scopes of a member's role cannot be limited."),
  "members-limit": ({ max }: { readonly max: number }) => tooMany("members", `An account has ${max} members at most.`),
  "no-issuer": conflict("account_id", "no_issuer", "Only people of the built-in issuer can act for another account."),
  "already-invited": ({ id }: { readonly id: string }) =>
    conflict("address", "already_invited", `The address has the open invitation ${id}; resend or revoke that one.`),
  closed: conflict("registration", "registration_closed", "Registration is closed: account.registration is `closed`."),
  "roles-by-issuer": conflict("role", "roles_by_issuer", "Roles come from the tokens of your identity provider."),
  "address-needed": unprocessable(
    "address",
    "required",
    "With another identity provider an invitation needs an address.",
  ),
} as const;

const show = ({ clock }: AccountService, invitation: Invitation): HttpResponse =>
  ok(viewInvitation(invitation, clock.now()));

/** The invitation with its link, as an answer shows it. */
const withLink = ({ clock }: AccountService, { invitation, url }: SentInvitation) => ({
  ...viewInvitation(invitation, clock.now()),
  url,
});

const sentGraph = {
  payload: { invitation: ({ invitation }: SentInvitation) => invitation, url: ({ url }: SentInvitation) => url },
  type: "SentInvitationPayload",
} as const;

function declareInvitation(service: AccountService) {
  return {
    createInvitation: operation({
      summary: "Invite a person",
      description:
        "Mails a link to the address, or creates one to pass on by hand, shown once. The invited person sees who invites them to what, and accepts with a new or an existing account. Needs `account:admin` (with `account_id`: `account:security`) and every scope that the invitation grants.",
      auth: write,
      audit: "invitation.create",
      input: newInvitation(service),
      create: (tx, { caller, input }) => createInvitation(service, tx, caller, input),
      refusals: createRefusals,
      rest: {
        post: base,
        responses: { 201: InvitationWithLink, 409: "error" },
        idempotent: "sealed",
        answer: (sent) => created(`${base}${sent.invitation.id}`, withLink(service, sent)),
      },
      graph: sentGraph,
    }),
  };
}

function declareChanges(service: AccountService) {
  const of: OwnRow<Invitation, { readonly invitation_id: string }> = {
    find: async (tx, { caller, params }) => ofCaller(caller, await lockInvitation(tx, params.invitation_id)),
    missing,
  };
  const keys = { keysInInput: true, names: { invitation_id: "id" } } as const;
  return {
    resendInvitation: operation({
      summary: "Send an invitation again",
      description:
        "Sends a new link, valid for at least 7 days, and invalidates the earlier one. An expired invitation is open again.",
      auth: write,
      audit: "invitation.resend",
      of,
      change: (tx, invitation, { caller }) => resendInvitation(service, tx, caller, invitation),
      refusals: {
        ...limitRefusals,
        ended: ({ status }) =>
          conflict("status", "invitation_ended", `The invitation is ${status}; invite the person again.`),
      },
      rest: {
        post: `${one}/resend`,
        responses: { 200: InvitationWithLink },
        idempotent: "sealed",
        answer: (sent) => ok(withLink(service, sent)),
      },
      graph: { ...sentGraph, ...keys },
    }),
    revokeInvitation: operation({
      summary: "Revoke an invitation",
      description: "Its link stops working at once. An accepted or revoked invitation is unchanged.",
      auth: read,
      audit: "invitation.revoke",
      of,
      change: (tx, invitation, { caller }) => revokeInvitation(service, tx, caller, invitation),
      rest: {
        delete: one,
        responses: { 200: InvitationResource },
        idempotent: true,
        answer: (invitation) => show(service, invitation),
      },
      graph: { payload: "invitation", ...keys },
    }),
  };
}

function addReads(service: AccountService, routes: Routes): void {
  const { pageLimits, pool, clock } = service;
  routes.get(base, {
    operationId: "invitations",
    summary: "List invitations, newest first",
    description:
      "All invitations, for administrators; with `account_id`, those into the caller's account, for its owners. Ended ones are included for 30 days.",
    auth: read,
    query: z.object({ ...filter, ...pageParameters(pageLimits) }),
    responses: { 200: pageOf(InvitationResource) },
    async handle({ caller, query }) {
      const wanted = wantedBy(caller, query);
      return listPage(
        query,
        (range) => listInvitations(pool, wanted, clock.now(), range),
        (invitation) => viewInvitation(invitation, clock.now()),
      );
    },
  });

  routes.get(one, {
    operationId: "invitation",
    summary: "Read an invitation",
    description: "Without its link, which was mailed, or shown once to its creator.",
    auth: read,
    responses: { 200: InvitationResource, 404: "error" },
    async handle({ caller, params }) {
      const found = ofCaller(caller, await findInvitation(pool, params.invitation_id));
      return found ? show(service, found) : refused(404, "not_found", { message: missing });
    },
  });
}

/**
 * The invitation, if the caller manages it. @throws AppError `forbidden` for any other, also when there is none, unless
 * the caller is an administrator
 */
function ofCaller(caller: Caller, invitation: Invitation | null): Invitation | null {
  if (invitation === null || !isOfOwnAccount(caller, invitation)) requireScopes(caller, ["account:admin"]);
  return invitation;
}

/** @throws AppError `forbidden` for a list that the caller may not read */
function wantedBy(caller: Caller, { account_id: account, ...given }: z.output<typeof Filter>) {
  const status = given.status ?? null;
  if (account === undefined) {
    requireScopes(caller, ["account:admin"]);
    return { status, accountId: null };
  }
  const accountId = account === "mine" ? caller.accountId : account;
  requireScopes(caller, [accountId === caller.accountId ? "account:security" : "account:admin"]);
  return { status, accountId };
}

const invitationById = ({ pool }: AccountService) =>
  field<unknown, { readonly id: string }>(read, async (_parent, { id }, { caller }) =>
    ofCaller(caller, await findInvitation(pool, id)),
  );

const allInvitations = ({ pageLimits, pool, clock }: AccountService) =>
  connectionField<unknown, Readonly<Record<string, unknown>>, Invitation>(read, {
    limits: pageLimits,
    read: (range, _parent, { caller }, args) =>
      listInvitations(pool, wantedBy(caller, filterFrom(Filter, args)), clock.now(), range),
  });
