import { type Caller, requireState } from "@signalbox/auth";
import { accountExample, viewOf } from "@signalbox/contracts";
import { listPage, pageOf, pageParameters, refused } from "@signalbox/http";
import { type Edges, edgesOf, hasPrefix, list, operation, stepsOf, type WhyFinder } from "@signalbox/service";
import type { ListRange, Tx } from "@signalbox/storage";
import { z } from "zod";
import { jtiOf } from "../access/issued-token-id.ts";
import { type Account, stateOf } from "../accounts/account.ts";
import { type Actor, actorOf, recordInAudit, recordReadOfAccount } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice } from "../notices/notices.ts";
import { ownAccount } from "../profile/account-api.ts";
import { endAllStepUps } from "../step-up/step-ups.ts";
import { revokeOtherSignIns, revokeSignIn, revokeSignIns } from "./issued-tokens.ts";
import { type ListedSignIn, type SignIn, SignInResource, signInExample } from "./sign-in.ts";
import { findLiveSignIn, listLiveSignIns } from "./sign-in-store.ts";

interface FoundSignIn {
  readonly account: Account;
  readonly signIn: SignIn;
}

// The sign-ins of an account at the built-in issuer: listed, and ended one by one or all at once, by its owner and by
// administrators. Administrators do it whatever the account's state, and the owner gets a notice.

/** Lists the newest live sign-ins for their owner's browser, whose session has this digest. */
export async function signInsOfBrowser(
  { pool, clock }: AccountService,
  accountId: string,
  session: Buffer,
): Promise<readonly ListedSignIn[]> {
  const listed = await listLiveSignIns(pool, accountId, { now: clock.now() }, { after: null, limit: shownMax });
  return listed.map((signIn) => ({ ...signIn, current: signIn.session.equals(session) }));
}

/** Finds a sign-in and locks its account, so that it is ended only once. */
export async function lockSignIn(
  { accountStore, clock }: AccountService,
  tx: Tx,
  accountId: string,
  id: string,
): Promise<FoundSignIn | null> {
  const account = await accountStore.lock(tx, accountId);
  const signIn = account && (await findLiveSignIn(tx, accountId, id, clock.now()));
  return signIn && { account, signIn };
}

/** Ends a sign-in of the caller: the browser's session, and the tokens of every application signed in to. */
export async function endSignIn(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  found: FoundSignIn,
): Promise<Account> {
  requireState(stateOf(found.account), "own-account:write");
  return end(service, tx, by, found);
}

/** Ends every sign-in of a person but that of one browser, whose session has this digest. */
export async function endOtherSignIns(
  service: AccountService,
  tx: Tx,
  by: Actor,
  account: Account,
  session: Buffer,
): Promise<void> {
  requireState(stateOf(account), "own-account:write");
  await revokeOtherSignIns(service, tx, account.id, session);
  await recordInAudit(service, tx, by, { action: "account.end_other_sign_ins", accountId: account.id });
}

async function endSignInByAdministrator(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  found: FoundSignIn,
): Promise<Account> {
  await queueNotice(service, tx, found.account, { kind: "access-ended", id: found.signIn.id });
  return end(service, tx, actorOf(caller, "administrator"), found);
}

/**
 * Ends every sign-in of a person to the account, the caller's included, and all step-ups. Tokens of another issuer
 * end by their time of issue. API keys and service clients stay. An owner under attack does it at once: it only
 * takes access away, so it needs no recent sign-in.
 */
export async function signOutEverywhere(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  account: Account,
): Promise<Account> {
  requireState(stateOf(account), "own-account:write");
  return signOut(service, tx, by, account);
}

async function signOutByAdministrator(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<Account> {
  await queueNotice(service, tx, account, { kind: "signed-out" });
  return signOut(service, tx, actorOf(caller, "administrator"), account);
}

async function end(
  service: AccountService,
  tx: Tx,
  by: Caller | Actor,
  { account, signIn }: FoundSignIn,
): Promise<Account> {
  await revokeSignIn(service, tx, signIn);
  await recordInAudit(service, tx, by, { action: "sign_in.end", accountId: account.id, subject: signIn.id });
  return account;
}

async function signOut(service: AccountService, tx: Tx, by: Caller | Actor, account: Account): Promise<Account> {
  await revokeSignIns(service, tx, account.id);
  const signedOut = await endAllStepUps(service, tx, { ...account, signedOutAt: service.clock.now() });
  await service.accountStore.save(tx, signedOut);
  await recordInAudit(service, tx, by, { action: "account.sign_out", accountId: account.id });
  return signedOut;
}

/** The most sign-ins that a page shows. */
export const shownMax = 50;

const base = "/api/account/sign-ins/";
const ofAccount = "/api/accounts/:account_id/sign-ins/";
const missing = "There is no such sign-in.";
const security = { scopes: ["account:security"], access: "own-account:write", ownAccount: true } as const;
const administration = { scopes: ["account:admin"] } as const;

const viewSignIn = viewOf(SignInResource, (_: ListedSignIn) => ({}));

/** The sign-ins of an account at both edges, for its owner and for administrators. */
export function signInApi(service: AccountService): Edges {
  const { pageLimits, accountStore } = service;
  const edges = edgesOf(
    {
      signIns: list({
        summary: "List the account's sign-ins at the built-in issuer, newest first",
        description: "Sign-ins with a valid browser session, refresh token or access token.",
        auth: { scopes: ["account:read"], access: "own-account:read", ownAccount: true },
        limits: pageLimits,
        read: (range, { caller, accountId }) => readPage(service, range, caller, accountId),
        rest: { get: base, item: SignInResource, view: viewSignIn },
        graph: { ofOthers: { ...administration, access: "read" }, audit: "account.read_sign_ins" },
      }),
      ...ownOperations(service),
      ...administratorOperations(service),
    },
    { errors: "account", exampleIds: { account_id: accountExample.id, sign_in_id: signInExample.id } },
  );
  // The graph has it as a field of the account.
  edges.routes.get(ofAccount, {
    operationId: "accountSignIns",
    summary: "List the sign-ins to an account at the built-in issuer, newest first",
    description: "For administrators; reading them is recorded in the account's audit.",
    auth: administration,
    audit: "account.read_sign_ins",
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(SignInResource), 404: "error" },
    async handle({ caller, params, query }) {
      const account = await accountStore.find(params.account_id);
      if (!account) return refused(404, "not_found");
      return listPage(query, (range) => readPage(service, range, caller, account.id), viewSignIn);
    },
  });
  return edges;
}

/** Reads a page of an account's sign-ins; an administrator's read leaves an entry in the account's audit. */
async function readPage(service: AccountService, range: ListRange, caller: Caller, accountId: string) {
  const view = { now: service.clock.now(), jti: jtiOf(caller.credential.id) };
  const signIns = await listLiveSignIns(service.pool, accountId, view, range);
  await recordReadOfAccount(service, caller, accountId, "account.read_sign_ins");
  return signIns;
}

function ownOperations(service: AccountService) {
  return {
    endSignIn: operation({
      summary: "End a sign-in",
      description:
        "Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The caller's own sign-in can be ended too.",
      // Signing out everywhere stays possible at once; ending one sign-in would let a thief stay while the owner goes.
      auth: { ...security, stepUp: true },
      audit: "sign_in.end",
      of: { find: (tx, { caller, params }) => lockSignIn(service, tx, caller.accountId, params.sign_in_id), missing },
      change: (tx, found, { caller }) => endSignIn(service, tx, caller, found),
      rest: { delete: `${base}:sign_in_id`, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account", keysInInput: true, names: { sign_in_id: "id" } },
    }),
    signOutEverywhere: operation({
      summary: "Sign out everywhere",
      description:
        "Ends every sign-in at the built-in issuer with its tokens, in every service within two seconds, and every step-up by code. Tokens that another issuer has issued until now are refused from now on; sessions at that issuer have to be ended there. API keys and service clients stay. Needs no recent sign-in.",
      auth: security,
      audit: "account.sign_out",
      of: ownAccount(service),
      change: (tx, account, { caller }) => signOutEverywhere(service, tx, caller, account),
      rest: { delete: base, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account" },
    }),
  };
}

function administratorOperations(service: AccountService) {
  return {
    endAccountSignIn: operation({
      summary: "End a sign-in to an account",
      description:
        "Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The owner gets a notice.",
      auth: { ...administration, stepUp: true },
      audit: "sign_in.end",
      of: { find: (tx, { params }) => lockSignIn(service, tx, params.account_id, params.sign_in_id), missing },
      change: (tx, found, { caller }) => endSignInByAdministrator(service, tx, caller, found),
      rest: { delete: `${ofAccount}:sign_in_id`, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account", keysInInput: true, names: { account_id: "accountId", sign_in_id: "id" } },
    }),
    signOutAccount: operation({
      summary: "End every sign-in to an account",
      description:
        "The same as the owner's own sign-out everywhere: ends sign-ins at the built-in issuer with their tokens, step-ups, and tokens that another issuer has issued until now. API keys and service clients stay. The owner gets a notice.",
      auth: { ...administration, stepUp: true },
      audit: "account.sign_out",
      of: {
        find: (tx, { params }) => service.accountStore.lock(tx, params.account_id),
        missing: "There is no such account.",
      },
      change: (tx, account, { caller }) => signOutByAdministrator(service, tx, caller, account),
      rest: { delete: ofAccount, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account", keysInInput: true, names: { account_id: "accountId" } },
    }),
  };
}

const step = stepsOf("account");

/** Finds live sign-ins, for the chain behind an id; the audit has the end of one. */
export const whySignedIn = ({ pool, clock }: AccountService): WhyFinder => ({
  scopes: ["account:read"],
  knows: hasPrefix("sgn"),
  async find({ accountId }, id) {
    const signIn = await findLiveSignIn(pool, accountId, id, clock.now());
    if (signIn === null) return null;
    const { createdAt, lastUsedAt, browser } = signIn;
    const started = step({ at: createdAt, id, what: `A person signed in with ${browser ?? "a browser"}.`, link: base });
    const used = step({ at: lastUsedAt, id, what: "An application last got a token through it.", link: base });
    return { steps: [started, used], next: [] };
  },
});
