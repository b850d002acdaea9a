import type { Caller } from "@signalbox/auth";
import { roles as roleNames, scopes } from "@signalbox/contracts";
import type { Refusal } from "@signalbox/http";
import { conflict } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { checkTimezone, externalId } from "../accounts/account-fields.ts";
import { holderOfExternalId } from "../accounts/account-store.ts";
import { changedAccount } from "../accounts/change-account.ts";
import { actorOf, recordAccountChange, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { ruledText, supportedLocale } from "../profile/account-body.ts";

const textsMax = 20;

const metadataName = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/;
const metadataText = z.string().min(1).max(500);

/** Texts by name. A patch may name as many to remove as there can be. */
const textsOf = <Text extends z.ZodType>(text: Text, max: number) =>
  z.record(z.string(), text).check(({ value, issues }) => {
    const names = Object.keys(value);
    const input = value;
    if (names.length > max) issues.push({ code: "custom", input, message: `Must have at most ${max} members.` });
    for (const name of names.slice(0, max).filter((one) => !metadataName.test(one))) {
      const message = "Its name must start with a letter and have at most 40 letters, digits, . _ and -.";
      issues.push({ code: "custom", input, path: [name], message });
    }
  });

export const newExternalId = externalId
  .nullable()
  .default(null)
  .describe("The id of the account in another system; unique.");

/** Language and time zone of a new account. */
export const newPlace = ({ configuration }: AccountService) => ({
  locale: supportedLocale(configuration)
    .optional()
    .meta({ description: "Default: the deployment's.", examples: ["en"] }),
  timezone: ruledText(checkTimezone, "unsupported")
    .default("UTC")
    .meta({ description: "An IANA time zone.", examples: ["Europe/Berlin"] }),
});

export const newMetadata = textsOf(metadataText, textsMax).meta({
  description: "Up to 20 strings of your own, which the owner does not see.",
  examples: [{ plan: "pro" }],
});

/** The scopes of an account at most. */
export const scopesMax = z
  .array(z.enum(scopes))
  .min(1)
  .max(scopes.length)
  .nullable()
  .meta({ description: "Upper limit on the scopes; null for all scopes of the roles.", examples: [["images:read"]] });

/** The members that administrators change; an absent one stays. */
export const AccountByAdministrator = z.strictObject({
  roles: z
    .array(z.enum(roleNames))
    .min(1)
    .max(roleNames.length)
    .meta({ description: "All roles of the account.", examples: [["owner", "operator"]] })
    .optional(),
  scopes_max: scopesMax.optional(),
  external_id: externalId
    .nullable()
    .meta({ description: "The id of the account in another system; null removes it.", examples: ["customer-4711"] })
    .optional(),
  metadata: textsOf(metadataText.nullable(), 2 * textsMax)
    .meta({ description: "Strings to set; null removes one, the others stay.", examples: [{ plan: "pro" }] })
    .optional(),
});

export type AccountByAdministrator = z.output<typeof AccountByAdministrator>;

export type ReferenceOutcome =
  | { outcome: "changed"; account: Account }
  | { outcome: "external-id-taken" | "too-many-texts" };

/** Changes a locked account. The same values leave no trace. */
export async function changeReference(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  changes: AccountByAdministrator,
): Promise<ReferenceOutcome> {
  const { external_id: wanted = account.externalId } = changes;
  const metadata = mergedTexts(account.metadata, changes.metadata ?? {});
  if (Object.keys(metadata).length > textsMax) return { outcome: "too-many-texts" };
  if (wanted !== null && wanted !== account.externalId && (await holderOfExternalId(tx, wanted)) !== null) {
    return { outcome: "external-id-taken" };
  }
  const isSame = sameTexts(metadata, account.metadata);
  const changed = changedAccount(account, { ...account, externalId: wanted, metadata }, service.clock.now());
  if (changed.accountFields.length === 0 && isSame) return { outcome: "changed", account };
  await service.accountStore.save(tx, changed.account);
  const by = actorOf(caller, "administrator");
  if (changed.accountFields.length > 0) await recordAccountChange(service, tx, by, "account.update", changed);
  const note = { action: "account.update", accountId: account.id, fields: ["metadata"] } as const;
  if (!isSame) await recordInAudit(service, tx, by, note);
  return { outcome: "changed", account: changed.account };
}

type Texts = Readonly<Record<string, string>>;

/** Applies a merge patch (RFC 7396) to the texts; the order of names does not matter. */
function mergedTexts(texts: Texts, changes: Readonly<Record<string, string | null>>): Texts {
  const merged = Object.entries({ ...texts, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
}

const sameTexts = (one: Texts, other: Texts): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, text]) => other[name] === text);

export const refusedExternalId = conflict("external_id", "external_id_taken", "Another account has this external id.");

const textsMessage = `An account has at most ${textsMax} strings.`;
export const refusedTexts: Refusal = {
  code: "validation_error",
  message: textsMessage,
  details: [{ field: "metadata", code: "too_big", message: textsMessage }],
};
