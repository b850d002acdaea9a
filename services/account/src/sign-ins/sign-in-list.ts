import { type Caller, type Principal, requireState } from "@signalbox/auth";
import { accountExample } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { PageLimits } from "@signalbox/graphql";
import { listPage, pageOf, pageParameters, refused } from "@signalbox/http";
import { type Edges, edgesOf, list, operation } from "@signalbox/service";
import type { ListRange, Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Account, stateOf } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { AdministratorReads } from "../audit/administrator-reads.ts";
import { type Actor, type Audit, actorOf } from "../audit/audit-log.ts";
import type { Notices } from "../notices/notices.ts";
import { ownAccount } from "../profile/account-api.ts";
import type { Accounts } from "../profile/accounts.ts";
import type { StepUps } from "../step-up/step-ups.ts";
import { type IssuedTokens, jtiOf } from "./issued-tokens.ts";
import { type ListedSignIn, type SignIn, SignInResource, signInExample, viewSignIn } from "./sign-in.ts";
import type { SignInStore } from "./sign-in-store.ts";

export type SignInList = ReturnType<typeof createSignInList>;

interface Dependencies {
  readonly accountStore: Pick<AccountStore, "lock" | "save">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  readonly signInStore: Pick<SignInStore, "list" | "find">;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIn" | "revokeSignIns" | "revokeOtherSignIns">;
  readonly stepUps: Pick<StepUps, "end">;
  readonly notices: Pick<Notices, "queue">;
}

interface FoundSignIn {
  readonly account: Account;
  readonly signIn: SignIn;
}

/**
 * The sign-ins of an account at the built-in issuer: listed, and ended one by one or all at once, by its owner and by
 * administrators. Administrators do it whatever the account's state, and the owner gets a notice.
 */
export function createSignInList(dependencies: Dependencies) {
  const { accountStore, signInStore, issuedTokens, stepUps, audit, notices, clock } = dependencies;
  return {
    /** Lists an account's live sign-ins, newest first. `credential` is the caller's. */
    list(
      { accountId, credential }: Pick<Principal, "accountId" | "credential">,
      range: ListRange,
    ): Promise<readonly ListedSignIn[]> {
      return signInStore.list(accountId, { now: clock.now(), jti: jtiOf(credential.id) }, range);
    },

    /** Lists the newest live sign-ins for their owner's browser, whose session has this digest. */
    async ofBrowser(accountId: string, session: Buffer): Promise<readonly ListedSignIn[]> {
      const listed = await signInStore.list(accountId, { now: clock.now() }, { after: null, limit: shownMax });
      return listed.map((signIn) => ({ ...signIn, current: signIn.session.equals(session) }));
    },

    /** Finds a sign-in and locks its account, so that it is ended only once. */
    async lock(tx: Tx, accountId: string, id: string): Promise<FoundSignIn | null> {
      const account = await accountStore.lock(tx, accountId);
      const signIn = account && (await signInStore.find(tx, accountId, id, clock.now()));
      return signIn && { account, signIn };
    },

    /** Ends a sign-in of the caller: the browser's session, and the tokens of every application signed in to. */
    async end(tx: Tx, by: Caller | Actor, found: FoundSignIn): Promise<Account> {
      requireState(stateOf(found.account), "own-account:write");
      return end(tx, by, found);
    },

    /** Ends every sign-in of a person but that of one browser, whose session has this digest. */
    async endOthers(tx: Tx, by: Actor, account: Account, session: Buffer): Promise<void> {
      requireState(stateOf(account), "own-account:write");
      await issuedTokens.revokeOtherSignIns(tx, account.id, session);
      await audit.record(tx, by, { action: "account.end_other_sign_ins", accountId: account.id });
    },

    async endByAdministrator(tx: Tx, caller: Caller, found: FoundSignIn): Promise<Account> {
      await notices.queue(tx, found.account, { kind: "access-ended", id: found.signIn.id });
      return end(tx, actorOf(caller, "administrator"), found);
    },

    /**
     * Ends every sign-in of a person to the account, the caller's included, and all step-ups. Tokens of another issuer
     * end by their time of issue. API keys and service clients stay. An owner under attack does it at once: it only
     * takes access away, so it needs no recent sign-in.
     */
    async signOutEverywhere(tx: Tx, by: Caller | Actor, account: Account): Promise<Account> {
      requireState(stateOf(account), "own-account:write");
      return signOut(tx, by, account);
    },

    async signOutByAdministrator(tx: Tx, caller: Caller, account: Account): Promise<Account> {
      await notices.queue(tx, account, { kind: "signed-out" });
      return signOut(tx, actorOf(caller, "administrator"), account);
    },
  };

  async function end(tx: Tx, by: Caller | Actor, { account, signIn }: FoundSignIn): Promise<Account> {
    await issuedTokens.revokeSignIn(tx, signIn);
    await audit.record(tx, by, { action: "sign_in.end", accountId: account.id, subject: signIn.id });
    return account;
  }

  async function signOut(tx: Tx, by: Caller | Actor, account: Account): Promise<Account> {
    await issuedTokens.revokeSignIns(tx, account.id);
    const signedOut = await stepUps.end(tx, { ...account, signedOutAt: clock.now() });
    await accountStore.save(tx, signedOut);
    await audit.record(tx, by, { action: "account.sign_out", accountId: account.id });
    return signedOut;
  }
}

/** The most sign-ins that a page shows. */
export const shownMax = 50;

export interface SignInApi {
  readonly accounts: Pick<Accounts, "find" | "lock">;
  readonly signInList: SignInList;
  readonly administratorReads: Pick<AdministratorReads, "ofAccount">;
  readonly pageLimits: PageLimits;
}

const base = "/api/account/sign-ins/";
const ofAccount = "/api/accounts/:account_id/sign-ins/";
const missing = "There is no such sign-in.";
const security = { scopes: ["account:security"], access: "own-account:write" } as const;
const administration = { scopes: ["account:admin"] } as const;

/** The sign-ins of an account at both edges, for its owner and for administrators. */
export function signInApi(parts: SignInApi): Edges {
  const { accounts, pageLimits } = parts;
  const edges = edgesOf(
    {
      signIns: list({
        summary: "List the account's sign-ins at the built-in issuer, newest first",
        description: "Those of which anything is good: the browser's session, a refresh token or an access token.",
        auth: { scopes: ["account:read"], access: "own-account:read" },
        limits: pageLimits,
        read: (range, { caller, accountId }) => readPage(range, caller, accountId, parts),
        rest: { get: base, item: SignInResource, view: viewSignIn },
        graph: { ofOthers: { ...administration, access: "read" }, audit: "account.read_sign_ins" },
      }),
      ...ownOperations(parts),
      ...administratorOperations(parts),
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
      const account = await accounts.find(params.account_id);
      if (!account) return refused(404, "not_found");
      return listPage(query, (range) => readPage(range, caller, account.id, parts), viewSignIn);
    },
  });
  return edges;
}

/** Reads a page of an account's sign-ins; an administrator's read leaves an entry in the account's audit. */
async function readPage(
  range: ListRange,
  caller: Caller,
  accountId: string,
  { signInList, administratorReads }: SignInApi,
) {
  const signIns = await signInList.list({ accountId, credential: caller.credential }, range);
  await administratorReads.ofAccount(caller, accountId, "account.read_sign_ins");
  return signIns;
}

function ownOperations({ accounts, signInList }: SignInApi) {
  return {
    endSignIn: operation({
      summary: "End a sign-in",
      description:
        "Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The caller's own sign-in can be ended too.",
      // Signing out everywhere stays possible at once; ending one sign-in would let a thief stay while the owner goes.
      auth: { ...security, stepUp: true },
      audit: "sign_in.end",
      of: { find: (tx, { caller, params }) => signInList.lock(tx, caller.accountId, params.sign_in_id), missing },
      change: (tx, found, { caller }) => signInList.end(tx, caller, found),
      rest: { delete: `${base}:sign_in_id`, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account", keysInInput: true, names: { sign_in_id: "id" } },
    }),
    signOutEverywhere: operation({
      summary: "Sign out everywhere",
      description:
        "Ends every sign-in at the built-in issuer with its tokens, in every service within two seconds, and every step-up by code. Tokens of another issuer that were issued until now are refused from then on; sessions there end there. API keys and service clients stay. Needs no recent sign-in.",
      auth: security,
      audit: "account.sign_out",
      of: ownAccount(accounts),
      change: (tx, account, { caller }) => signInList.signOutEverywhere(tx, caller, account),
      rest: { delete: base, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account" },
    }),
  };
}

function administratorOperations({ accounts, signInList }: SignInApi) {
  return {
    endAccountSignIn: operation({
      summary: "End a sign-in to an account",
      description:
        "Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The owner gets a notice.",
      auth: { ...administration, stepUp: true },
      audit: "sign_in.end",
      of: { find: (tx, { params }) => signInList.lock(tx, params.account_id, params.sign_in_id), missing },
      change: (tx, found, { caller }) => signInList.endByAdministrator(tx, caller, found),
      rest: { delete: `${ofAccount}:sign_in_id`, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account", keysInInput: true, names: { account_id: "accountId", sign_in_id: "id" } },
    }),
    signOutAccount: operation({
      summary: "End every sign-in to an account",
      description:
        "As the owner's own sign-out everywhere: sign-ins at the built-in issuer with their tokens, step-ups, and tokens that another issuer issued until now. API keys and service clients stay. The owner gets a notice.",
      auth: { ...administration, stepUp: true },
      audit: "account.sign_out",
      of: { find: (tx, { params }) => accounts.lock(tx, params.account_id), missing: "There is no such account." },
      change: (tx, account, { caller }) => signInList.signOutByAdministrator(tx, caller, account),
      rest: { delete: ofAccount, responses: { 204: "empty" }, idempotent: true },
      graph: { payload: "account", keysInInput: true, names: { account_id: "accountId" } },
    }),
  };
}
