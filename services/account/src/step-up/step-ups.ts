import {
  type Caller,
  type Principal,
  type PrincipalCredential,
  personOf,
  requireState,
  stepUpMaxAgeMs,
} from "@signalbox/auth";
import { draft } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { type Queryable, type Statement, sql, type Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { jtiOf } from "../access/issued-token-id.ts";
import { type Account, stateOf } from "../accounts/account.ts";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import { codeRefusal, type RefusedCode, type SentTo } from "../codes/code-answers.ts";
import type { CodePlace } from "../codes/one-time-codes.ts";
import { endCodes, issueCode, redeemCode } from "../codes/one-time-codes.ts";
import type { AccountService } from "../context/account-service.ts";
import { envelopeOf } from "../mail/mails.ts";
import { needsPasskey } from "../passkeys/passkey-rules.ts";

type RequestOutcome = ({ outcome: "sent" } & SentTo) | { outcome: "no-address" | "too-many" | RefusedPerson };
type RefusedPerson = "not-a-person" | "passkey-needed";

type CompleteOutcome =
  | { outcome: "completed"; validUntil: Date }
  | { outcome: RefusedCode | RefusedPerson | "too-many-tries" };

const findStepUp = sql(
  "step-up.find",
  `select credential_id as "credentialId", account_id as "accountId", at from step_ups
   where credential_id = $1 and account_id = $2`,
);
const saveStepUp = sql(
  "step-up.save",
  `insert into step_ups (credential_id, account_id, at) values ($1, $2, $3)
   on conflict (credential_id) do update set account_id = excluded.account_id, at = excluded.at`,
);
const endStepUps = sql("step-up.end-all", "delete from step_ups where account_id = $1");

const mailsMaxPerHour = 5;
const triesMaxPerHour = 25;

/** Counts a use at $2 when fewer than $4 came after $3; earlier times are dropped. */
function countUse(name: string, counted: "mailed" | "tried", other: "mailed" | "tried"): Statement {
  const latest = `select at from unnest(step_up_allowances.${counted}) as at where at > $3`;
  return sql(
    name,
    `insert into step_up_allowances (account_id, ${counted}, ${other}, last_used_at)
     values ($1, array[$2::timestamptz], '{}', $2)
     on conflict (account_id) do update set ${counted} = array(${latest}) || $2::timestamptz, last_used_at = $2
     where (select count(*) from (${latest}) as uses) < $4`,
  );
}

const countMail = countUse("step-up-allowance.count-mail", "mailed", "tried");
const countTry = countUse("step-up-allowance.count-try", "tried", "mailed");

/** The key of a step-up: the token itself, so that the proof does not count for every token of that login. */
const steppedUp = ({ id, tokenId }: PrincipalCredential): string => tokenId ?? id;

// Step-ups: a person whose sign-in is too old for a change proves their identity again with a mailed code. The latest
// one of each credential is kept. Codes and tries are limited per account, over all its tokens: a token's holder gets
// more of them by the refresh token, and could guess anew with each.

/** Returns the time at which the person behind a credential proved their identity last; null when they never did. */
export async function steppedUpAt(
  { pool }: AccountService,
  accountId: string,
  credential: PrincipalCredential,
): Promise<Date | null> {
  return (await pool.query<{ at: Date }>(findStepUp, [steppedUp(credential), accountId])).rows[0]?.at ?? null;
}

/** Mails a code to the verified address of the caller's locked account. */
export async function requestStepUp(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<RequestOutcome> {
  const refused = await refusedPerson(service, tx, caller, account);
  if (refused) return { outcome: refused };
  requireState(stateOf(account), "own-account:write");
  const { id: accountId, contactAddress: address, contactAddressVerified } = account;
  if (address === null || !contactAddressVerified) return { outcome: "no-address" };
  const isAllowed = await take(service, tx, countMail, accountId, mailsMaxPerHour);
  const issued = isAllowed ? await issueCode(service, tx, { ...stepUpPlace(caller), accountId }) : "too-many";
  if (issued === "too-many") return { outcome: "too-many" };
  const { code, expiresAt } = issued;
  await service.mails.enqueue(tx, { kind: "step-up-code", ...envelopeOf(account, address, expiresAt), code });
  return { outcome: "sent", address, expiresAt };
}

/** Redeems the code. From then on the credential counts as freshly signed in, in every service. */
export async function completeStepUp(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  code: string,
): Promise<CompleteOutcome> {
  const { auditRefusals, clock, accountStore, outbox } = service;
  const refused = await refusedPerson(service, tx, caller, account);
  if (refused) return { outcome: refused };
  requireState(stateOf(account), "own-account:write");
  const mayTry = await take(service, service.counting, countTry, account.id, triesMaxPerHour);
  if (!mayTry) return { outcome: "too-many-tries" };
  const redeemed = await redeemCode(service, tx, { ...stepUpPlace(caller), code });
  if (redeemed !== "good") {
    const refusal = codeRefusal("account.step_up", account.id, redeemed, actorOf(caller));
    auditRefusals.record(refusal);
    return { outcome: redeemed };
  }
  const at = clock.now();
  await tx.query(saveStepUp, [steppedUp(caller.credential), account.id, at]);
  await accountStore.save(tx, await invalidateAccess(service, tx, account));
  await recordInAudit(service, tx, caller, { action: "account.step_up", accountId: account.id });
  await outbox.append(tx, [stepUpPassed(account.id, caller)]);
  return { outcome: "completed", validUntil: new Date(at.getTime() + stepUpMaxAgeMs) };
}

function stepUpPassed(accountId: string, { credential, clientAddress: address }: Caller) {
  const data = { account_id: accountId, method: "code", credential: credential.id, address, changed: [] };
  return draft("step_up.passed", { subject: accountId, accountId, data });
}

/** Ends all step-ups and every code on its way; returns the account for the caller to save. */
export async function endAllStepUps(service: AccountService, tx: Tx, account: Account): Promise<Account> {
  await tx.query(endStepUps, [account.id]);
  await endCodes(service, tx, account.id);
  return invalidateAccess(service, tx, account);
}

/**
 * Returns the reason why no code helps: no person stands behind a key or a client to read a mail, and one who needs a
 * passkey signs in again with it. People of other issuers have none here.
 */
async function refusedPerson(
  service: AccountService,
  tx: Tx,
  { credential }: Principal,
  account: Account,
): Promise<RefusedPerson | null> {
  if (credential.kind !== "token") return "not-a-person";
  const isOurs = jtiOf(credential.id) !== null;
  return isOurs && (await needsPasskey(service, tx, account)) ? "passkey-needed" : null;
}

/** A code raises only the credential that requested it, so the owner cannot answer a thief's request. */
const stepUpPlace = (caller: Principal): CodePlace => ({
  purpose: "step-up",
  subject: `${personOf(caller)} ${steppedUp(caller.credential)}`,
});

/** Counts a use. Returns false when the hourly limit is reached. */
async function take(
  { clock }: AccountService,
  db: Queryable,
  statement: Statement,
  accountId: string,
  max: number,
): Promise<boolean> {
  const now = clock.now();
  const since = new Date(now.getTime() - hours(1));
  return (await db.query(statement, [accountId, now, since, max])).rowCount === 1;
}
