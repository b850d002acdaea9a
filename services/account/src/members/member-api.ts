import { personOf } from "@signalbox/auth";
import { exampleOf, MembershipResource, viewOf } from "@signalbox/contracts";
import { ok } from "@signalbox/http";
import { conflict, type Edges, edgesOf, list, type OwnRow, operation } from "@signalbox/service";
import type { AccountService } from "../context/account-service.ts";
import { changeMemberRole, type HeldMember, removeMember } from "./members.ts";
import { etagOfMembership, MemberPatch, type NamedMembership } from "./membership.ts";
import { findMembership, findNamedMembership, listMembers, listMembershipsOf } from "./membership-store.ts";

const viewMembership = viewOf(MembershipResource, (_: NamedMembership) => ({}));

const members = "/api/account/members/" as const;
const memberships = "/api/account/memberships/" as const;
const read = { scopes: ["account:read"], access: "own-account:read" } as const;
const security = { scopes: ["account:security"], stepUp: true } as const;
const names = { keysInInput: true, names: { membership_id: "id" } } as const;

const lastOwner = conflict(
  "role",
  "last_owner",
  "This is the last owner of the account. Make another member an owner first.",
);
const refusals = { "last-owner": lastOwner } as const;

/** The people of the acting account, and the accounts that a person belongs to, at both edges. */
export function memberApi(service: AccountService): Edges {
  return edgesOf(
    { ...membersOfAccount(service), ...membershipsOfPerson(service) },
    { errors: "account", exampleIds: { membership_id: exampleOf(MembershipResource).id } },
  );
}

function membersOfAccount(service: AccountService) {
  const { accountStore, pageLimits, pool } = service;
  const of: OwnRow<HeldMember, { readonly membership_id: string }> = {
    async find(tx, { caller: { accountId }, params }) {
      const account = await accountStore.lock(tx, accountId);
      const membership = account && (await findMembership(tx, params.membership_id));
      return account && membership?.accountId === accountId ? { account, membership } : null;
    },
    etag: ({ membership }) => etagOfMembership(membership),
    missing: "There is no such member.",
  };
  const named = async (tx: Parameters<typeof findNamedMembership>[0], id: string) =>
    (await findNamedMembership(tx, id)) as NamedMembership;
  return {
    members: list({
      summary: "List the members of the account, newest first",
      description: "People who may act for this account. Its own person is always an owner and is not listed.",
      auth: read,
      limits: pageLimits,
      read: (range, { accountId }) => listMembers(pool, accountId, range),
      rest: { get: members, item: MembershipResource, view: viewMembership },
    }),
    changeMemberRole: operation({
      summary: "Change the role of a member",
      description: "Takes effect in every service within two seconds. The last owner must stay an owner.",
      auth: security,
      audit: "member.change_role",
      input: MemberPatch,
      of,
      async change(tx, held, { caller, input }) {
        const changed = await changeMemberRole(service, tx, caller, held, input.role);
        if (changed.outcome !== "changed") return changed;
        return { outcome: "changed" as const, member: await named(tx, held.membership.id) };
      },
      refusals,
      rest: {
        patch: `${members}:membership_id`,
        mergePatch: true,
        responses: { 200: MembershipResource },
        idempotent: true,
        answer: ({ member }) => ok(viewMembership(member), { etag: etagOfMembership(member) }),
      },
      graph: { payload: { membership: ({ member }) => member }, ...names },
    }),
    removeMember: operation({
      summary: "Remove a member",
      description:
        "Their tokens no longer act for the account, in every service within two seconds. Keys, endpoints, images and sources that they created stay. The last owner cannot be removed.",
      auth: security,
      audit: ["member.remove", "member.leave"],
      of,
      change: (tx, held, { caller }) => removeMember(service, tx, caller, held),
      refusals,
      rest: { delete: `${members}:membership_id`, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { removedMembershipId: (_, { params }) => params.membership_id },
        type: "RemoveMemberPayload",
        ...names,
      },
    }),
  };
}

function membershipsOfPerson(service: AccountService) {
  const { accountStore, pageLimits, pool } = service;
  const of: OwnRow<HeldMember, { readonly membership_id: string }> = {
    // The account is locked first, so the row is read again under its lock.
    async find(tx, { caller, params }) {
      const found = await findMembership(tx, params.membership_id);
      if (found?.memberId !== personOf(caller)) return null;
      const account = await accountStore.lock(tx, found.accountId);
      const membership = account && (await findMembership(tx, found.id));
      return membership && { account, membership };
    },
    etag: ({ membership }) => etagOfMembership(membership),
    missing: "There is no such membership.",
  };
  return {
    memberships: list({
      summary: "List the accounts that the person is a member of, newest first",
      description:
        "Whichever account the credential acts for, these are the memberships of the person behind it. `account` at the token endpoint chooses one.",
      auth: read,
      limits: pageLimits,
      read: (range, { caller }) => listMembershipsOf(pool, personOf(caller), range),
      rest: { get: memberships, item: MembershipResource, view: viewMembership },
    }),
    leaveAccount: operation({
      summary: "Leave an account",
      description:
        "The person's tokens no longer act for it, in every service within two seconds. Its last owner cannot leave.",
      auth: { scopes: ["account:write"], access: "own-account:write" },
      audit: ["member.leave"],
      of,
      change: (tx, held, { caller }) => removeMember(service, tx, caller, held),
      refusals,
      rest: { delete: `${memberships}:membership_id`, responses: { 204: "empty" }, idempotent: true },
      graph: {
        payload: { leftMembershipId: (_, { params }) => params.membership_id },
        type: "LeaveAccountPayload",
        ...names,
      },
    }),
  };
}
