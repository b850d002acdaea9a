import { createHash, randomInt } from "node:crypto";
import { type Caller, requireState } from "@signalbox/auth";
import { type Queryable, sql, type Tx } from "@signalbox/storage";
import { type Account, stateOf } from "../accounts/account.ts";
import { type CredentialUse, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice, shownAddress } from "../notices/notices.ts";
import type { PasskeySignIn } from "../sign-ins/passkey-sign-ins.ts";
import { browserNameOf } from "../sign-ins/sign-in.ts";
import { recordRefusal, recordSignIn } from "../sign-ins/sign-in-events.ts";
import { refuseClosed } from "../sign-ins/sign-in-outcome.ts";

/** The recovery codes of an account, without the codes. */
export interface RecoveryCodes {
  readonly left: number;
  /** Null for an account that never had any. */
  readonly createdAt: Date | null;
}

type CreateOutcome =
  | { readonly outcome: "created"; readonly codes: readonly string[]; readonly createdAt: Date }
  | { readonly outcome: "not-a-person" };

interface TypedRecoveryCode {
  readonly code: string;
  readonly userAgent: string | undefined;
  readonly by: CredentialUse;
}

export const codesOfSet = 10;
/** Without `i`, `l`, `o` and `u`, which people misread (Crockford's Base32). */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
/** 80 random bits: one fast digest is enough, and nobody guesses one. */
const charactersOfCode = 16;

const insertCodes = sql(
  "recovery-code.insert",
  "insert into recovery_codes (digest, account_id, created_at) select unnest($1::bytea[]), $2, $3",
);
const deleteCodes = sql("recovery-code.delete", "delete from recovery_codes where account_id = $1");
const countCodes = sql(
  "recovery-code.count",
  `select count(*) filter (where used_at is null)::int as left, max(created_at) as "createdAt"
   from recovery_codes where account_id = $1`,
);
const findHolder = sql("recovery-code.find", `select account_id as "accountId" from recovery_codes where digest = $1`);
const useCode = sql(
  "recovery-code.use",
  "update recovery_codes set used_at = $2 where digest = $1 and used_at is null",
);

// Recovery codes of people, for the day on which they have neither their mailbox nor a passkey. Each signs in once.

export async function recoveryCodesOf(db: Queryable, accountId: string): Promise<RecoveryCodes> {
  return (await db.query<RecoveryCodes>(countCodes, [accountId])).rows[0] ?? { left: 0, createdAt: null };
}

/** Makes ten codes for a locked account, which replace all earlier ones. Only the answer has them. */
export async function createRecoveryCodes(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<CreateOutcome> {
  // The holder of a key must not become a person.
  if (caller.credential.kind !== "token") return { outcome: "not-a-person" };
  requireState(stateOf(account), "own-account:write");
  const codes = Array.from({ length: codesOfSet }, newCode);
  const createdAt = service.clock.now();
  await tx.query(deleteCodes, [account.id]);
  await tx.query(insertCodes, [codes.map(digestOf), account.id, createdAt]);
  await recordInAudit(service, tx, caller, { action: "account.create_recovery_codes" });
  await queueNotice(service, tx, account, { kind: "recovery-codes-created", address: shownAddress(caller) });
  return { outcome: "created", codes, createdAt };
}

/** Signs in the person whose code it is, once. */
export async function signInByRecoveryCode(
  service: AccountService,
  tx: Tx,
  { code, userAgent, by }: TypedRecoveryCode,
): Promise<PasskeySignIn> {
  const { accountStore, clock } = service;
  const digest = digestOf(code);
  const [holder] = (await tx.query<{ accountId: string }>(findHolder, [digest])).rows;
  const account = holder ? await accountStore.lock(tx, holder.accountId) : null;
  if (!account) return { outcome: "refused" };
  const { id: accountId } = account;
  const owner = { kind: "owner", accountId, ...by } as const;
  const closed = await refuseClosed(service, account, { fields: ["code"], by });
  if (closed) return closed;
  if ((await tx.query(useCode, [digest, clock.now()])).rowCount === 0) {
    await recordRefusal(service, { accountId, reason: "code_used_up", fields: ["code"], by: owner });
    return { outcome: "refused" };
  }
  const { left } = await recoveryCodesOf(tx, accountId);
  await recordInAudit(service, tx, owner, { action: "account.use_recovery_code" });
  await recordSignIn(service, tx, { accountId, method: "recovery_code", userAgent, by });
  const from = { browser: browserNameOf(userAgent) ?? "–", address: by.address ?? "–" };
  await queueNotice(service, tx, account, { kind: "recovery-code-used", left: String(left), ...from });
  return { outcome: "signed-in", accountId };
}

function newCode(): string {
  const characters = Array.from({ length: charactersOfCode }, () => alphabet[randomInt(alphabet.length)]);
  return characters.join("").replace(/.{4}(?=.)/g, "$&-");
}

/** Digests a code as people type it: in any case, with blanks, and with the letters that look like digits. */
function digestOf(code: string): Buffer {
  const typed = code
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s\p{Dash}]/gu, "");
  const read = typed.replace(/[il]/g, "1").replaceAll("o", "0");
  return createHash("sha256").update(`signalbox recovery code ${read}`).digest();
}
