import type { Principal } from "@signalbox/auth";
import { accountExample, displayNameOr, examples } from "@signalbox/contracts";
import { canonicalLocale, type DetailCode } from "@signalbox/core";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import { checkContactAddress, checkLocale, checkTimezone, type FieldRule } from "../accounts/account-fields.ts";
import type { AccountChanges } from "../accounts/change-account.ts";
import type { AccountService } from "../context/account-service.ts";

/** A text in Unicode NFC that follows one of our rules. `code` is the stable word in `details`. */
export function ruledText(rule: FieldRule, code: DetailCode = "invalid") {
  return z
    .string()
    .normalize("NFC")
    .check(({ value, issues }) => {
      const problem = rule(value);
      if (problem !== null) issues.push({ code: "custom", input: value, message: problem, params: { code } });
    });
}

/** A supported locale, or the present one, in the canonical form of its letters. */
export const supportedLocale = (configuration: AccountService["configuration"], present?: string) =>
  ruledText(
    unless(present, (locale) => checkLocale(configuration.get("supported.locales"))(locale)),
    "unsupported",
  ).overwrite((locale) => canonicalLocale(locale) ?? locale);

/** The account's present values. The owner may send them back even when they are no longer valid choices. */
type Present = Account | null;

/**
 * A body that changes an account or its settings. One that fails validation is validated once more against the
 * account: values that the account already has may be sent back.
 */
function body<Schema extends z.ZodType>(
  { accountStore }: AccountService,
  example: z.input<NoInfer<Schema>> & object,
  schemaWith: (present: Present) => Schema,
) {
  const json = schemaWith(null);
  examples.add<z.ZodType>(json, { example });
  return {
    json,
    forCaller: async ({ accountId }: Principal) => schemaWith(await accountStore.find(accountId)),
  };
}

/** PATCH: absent members stay. */
export const accountPatch = (service: AccountService) =>
  body(service, { display_name: "Ada King" }, (present) => z.strictObject(accountMembers(service, present)).partial());

/** PUT: the whole writable representation; the nullable contact address may be absent, which clears it. */
export const accountReplacement = (service: AccountService) =>
  body(service, replacementExample, (present) => {
    const { contact_address, ...required } = accountMembers(service, present);
    return z.strictObject({ ...required, contact_address: contact_address.default(null) });
  });

/** PATCH: absent members stay, inside `notifications` too. */
export const settingsPatch = (service: AccountService) =>
  body(service, { notifications: { product_updates: true } }, (present) =>
    z
      .strictObject({
        ...sharedMembers(service, present),
        notifications: z.strictObject(notifications).partial().describe("The mails that the account wants to receive."),
      })
      .partial(),
  );

/** PUT: no setting is nullable, so every member is required. */
export const settingsReplacement = (service: AccountService) =>
  body(service, settingsExample, (present) =>
    z.strictObject({
      ...sharedMembers(service, present),
      notifications: z.strictObject(notifications).describe("The mails that the account wants to receive."),
    }),
  );

function accountMembers(service: AccountService, present: Present) {
  return {
    display_name: displayNameOr(present?.displayName),
    contact_address: ruledText(checkContactAddress)
      .nullable()
      .describe("An e-mail address. A new one is pending until it is confirmed; null clears at once."),
    ...sharedMembers(service, present),
  };
}

function sharedMembers({ configuration }: AccountService, present: Present) {
  return {
    locale: supportedLocale(configuration, present?.locale).meta({
      examples: ["en"],
      description: "A supported locale, a BCP 47 tag.",
    }),
    timezone: ruledText(unless(present?.timezone, checkTimezone), "unsupported").meta({
      description: "An IANA time zone.",
      examples: ["Europe/Berlin"],
    }),
  };
}

const { display_name, contact_address, locale, timezone } = accountExample;
const replacementExample = { display_name, contact_address, locale, timezone };
const settingsExample = { locale, timezone, notifications: { product_updates: true } };

const notifications = { product_updates: z.boolean().describe("True to receive product news.") };

const unless =
  (present: string | undefined, rule: FieldRule): FieldRule =>
  (value) =>
    value === present ? null : rule(value);

/** The writable members of account and settings by their wire names. */
export interface AccountBody {
  readonly display_name?: string | undefined;
  readonly contact_address?: string | null | undefined;
  readonly locale?: string | undefined;
  readonly timezone?: string | undefined;
  readonly notifications?: { readonly product_updates?: boolean | undefined } | undefined;
}

/** Gives the members of a body the names of the domain. */
export function changesFrom(body: AccountBody): AccountChanges {
  return {
    displayName: body.display_name,
    contactAddress: body.contact_address,
    locale: body.locale,
    timezone: body.timezone,
    productUpdates: body.notifications?.product_updates,
  };
}
