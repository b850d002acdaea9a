import { type Caller, requireScopes } from "@signalbox/auth";
import { accountExample, displayName, examples } from "@signalbox/contracts";
import { detailCodes, type ErrorDetail } from "@signalbox/core";
import { type Judgement, judge } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { type Account, scopesOfAccount } from "../accounts/account.ts";
import { accountCreated } from "../accounts/account-events.ts";
import { canonicalAddress, checkContactAddress } from "../accounts/account-fields.ts";
import { type Holder, holdersOf } from "../accounts/account-store.ts";
import { actorOf, recordAllInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { ruledText } from "../profile/account-body.ts";
import { type FirstValues, firstAccount, firstValues } from "../registration/provisioning.ts";
import { newExternalId, newMetadata, newPlace } from "./account-reference.ts";

const importsMax = 1000;

const importedAccount = (service: AccountService) =>
  z.strictObject({
    contact_address: ruledText(checkContactAddress, "invalid_format").meta({
      description: "An address that you have verified. Anyone who can read its mail can sign in.",
      examples: ["ada@example.org"],
    }),
    external_id: newExternalId,
    display_name: displayName.nullable().default(null).describe("Default: a generated name."),
    ...newPlace(service),
    metadata: newMetadata.default({}),
  });

type ImportedAccount = z.output<ReturnType<typeof importedAccount>>;

/** An item that is refused, whatever it is. */
const anyOther = z.union([
  z.record(z.string(), z.unknown()),
  z.array(z.unknown()),
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
]);

/** Documents a union by its first member: what a client is made to send. */
function documentsFirst({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  Object.assign(jsonSchema, jsonSchema.anyOf?.[0]);
  delete jsonSchema.anyOf;
}

/** The body of an import. An item that breaks its rules is refused alone, so any other value is one too. */
export const importRules = (service: AccountService) =>
  z
    .strictObject({
      accounts: z
        .array(z.union([importedAccount(service), anyOther]).meta({ override: documentsFirst }))
        .min(1)
        .max(importsMax)
        .describe("The accounts; an invalid one is refused without affecting the others."),
      dry_run: z.boolean().default(false).describe("True validates the accounts without creating any."),
    })
    .register(examples, {
      example: { accounts: [{ contact_address: "ada@example.org", external_id: "customer-4711" }], dry_run: true },
    });

const ImportedItem = z.object({
  index: z.int().min(0).describe("Place in the request."),
  outcome: z
    .enum(["created", "exists", "refused"])
    .describe("`exists`: an account with the address or the external id already exists and is unchanged."),
  account_id: z.string().nullable().describe("The account; null if it was refused, or would be new in a dry run."),
  details: z
    .array(
      z.object({
        field: z.string().describe("The member of the item."),
        code: z.enum(detailCodes).describe("A stable code."),
        message: z.string().describe("The problem, as a sentence."),
      }),
    )
    .describe("Why the account was refused."),
});

type ImportedItem = z.output<typeof ImportedItem>;

export const ImportResource = z
  .object({
    dry_run: z.boolean().describe("True when nothing was created."),
    created: z.int().min(0).describe("Number of accounts that were created, or would be in a dry run."),
    exists: z.int().min(0).describe("Number of accounts that already existed."),
    refused: z.int().min(0).describe("Number of accounts that were refused."),
    items: z.array(ImportedItem).describe("The outcome of each account, in the order of the request."),
  })
  .meta({ id: "AccountImport", description: "The outcome of an import of accounts." })
  .register(examples, {
    example: {
      dry_run: false,
      created: 1,
      exists: 0,
      refused: 0,
      items: [{ index: 0, outcome: "created", account_id: accountExample.id, details: [] }],
    },
  });

type ImportResource = z.output<typeof ImportResource>;

/** A judged item: the account to create, or its outcome. */
type Judged = { readonly index: number; readonly wanted: Account } | ImportedItem;

/**
 * Creates accounts with verified addresses, each or none by its own fate: a second import of the same ones finds them.
 * One statement inserts all, so that a sign-up in the same moment makes the account that exists.
 */
export async function importAccounts(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  { accounts, dry_run: isDryRun }: { readonly accounts: readonly unknown[]; readonly dry_run: boolean },
): Promise<ImportResource> {
  const { clock, configuration, accountStore, outbox } = service;
  const values = firstValues(configuration);
  requireScopes(caller, [...scopesOfAccount(firstAccount({}, values, clock.now()))]);
  const rules = importedAccount(service);
  const parsed = accounts.map((account) => judge(rules, account));
  const wanted = parsed.flatMap((one) => (one.success ? [one.data] : []));
  const known = await holdersOf(tx, wanted.map(addressOf), wanted.flatMap(externalIdOf));
  const judged = judgeAll(parsed, known, (one) => startAccount(one, values, clock.now()));
  const starting = judged.flatMap((one) => ("wanted" in one ? [one.wanted] : []));
  const inserted = isDryRun ? new Set<string>() : await accountStore.insertAll(tx, starting);
  const created = starting.filter(({ id }) => inserted.has(id));
  const by = actorOf(caller, "administrator");
  await recordAllInAudit(
    service,
    tx,
    by,
    created.map(({ id: accountId }) => ({ action: "account.create", accountId })),
  );
  await outbox.append(tx, created.map(accountCreated));
  // Somebody else was first with these.
  const late = starting.filter(({ id }) => !isDryRun && !inserted.has(id));
  const winners =
    late.length === 0 ? [] : await holdersOf(tx, late.map(verifiedAddressOf), late.flatMap(idElsewhereOf));
  const items = judged.map((one) => {
    if (!("wanted" in one)) return one;
    const { index, wanted: account } = one;
    if (isDryRun) return item(index, "created", null);
    if (inserted.has(account.id)) return item(index, "created", account.id);
    const winner = winners.find((holder) => isHolder(holder, account));
    return item(index, "exists", winner?.id ?? null);
  });
  const count = (outcome: ImportedItem["outcome"]) => items.filter((one) => one.outcome === outcome).length;
  return { dry_run: isDryRun, created: count("created"), exists: count("exists"), refused: count("refused"), items };
}

function judgeAll(
  parsed: readonly Judgement<ImportedAccount>[],
  known: readonly Holder[],
  start: (one: ImportedAccount) => Account,
): readonly Judged[] {
  const byAddress = new Map(known.map((holder) => [holder.verifiedAddress, holder]));
  const byExternalId = new Map(known.map((holder) => [holder.externalId, holder]));
  const seen = new Set<string>();
  return parsed.map((one, index) => {
    if (!one.success) return item(index, "refused", null, one.details);
    const { external_id: id } = one.data;
    const [address, mine] = [byAddress.get(addressOf(one.data)), id === null ? undefined : byExternalId.get(id)];
    if (address && mine && address.id !== mine.id) return item(index, "refused", null, [twoAccounts]);
    const found = mine ?? address;
    if (found) return item(index, "exists", found.id);
    const repeated = (["contact_address", "external_id"] as const).find((field) =>
      seen.has(`${field} ${keyOf(one.data, field)}`),
    );
    if (repeated) return item(index, "refused", null, [{ field: repeated, ...repetition }]);
    seen.add(`contact_address ${addressOf(one.data)}`);
    if (id !== null) seen.add(`external_id ${id}`);
    return { index, wanted: start(one.data) };
  });
}

const addressOf = ({ contact_address: address }: ImportedAccount): string => canonicalAddress(address);
const externalIdOf = ({ external_id: id }: ImportedAccount): readonly string[] => (id === null ? [] : [id]);
const keyOf = (one: ImportedAccount, field: "contact_address" | "external_id"): string | null =>
  field === "contact_address" ? addressOf(one) : one.external_id;

const verifiedAddressOf = ({ contactAddress }: Account): string => canonicalAddress(contactAddress ?? "");
const idElsewhereOf = ({ externalId: id }: Account): readonly string[] => (id === null ? [] : [id]);

const isHolder = ({ verifiedAddress, externalId: id }: Holder, account: Account): boolean =>
  verifiedAddress === verifiedAddressOf(account) || (id !== null && id === account.externalId);

const twoAccounts: ErrorDetail = {
  field: "external_id",
  code: "external_id_taken",
  message: "The id and the address belong to two different accounts.",
};
const repetition = { code: "repeated", message: "An earlier account of this import has it." } as const;

const item = (
  index: number,
  outcome: ImportedItem["outcome"],
  accountId: string | null,
  details: readonly ErrorDetail[] = [],
): ImportedItem => ({ index, outcome, account_id: accountId, details: [...details] });

/** Builds the account as it begins: active, with an address that needs no confirmation. */
function startAccount(
  { contact_address: email, display_name: name, locale, timezone: zoneinfo, ...reference }: ImportedAccount,
  values: FirstValues,
  now: Date,
): Account {
  return {
    ...firstAccount({ name, email, email_verified: true, locale, zoneinfo }, values, now),
    status: "active",
    externalId: reference.external_id,
    metadata: reference.metadata,
  };
}
