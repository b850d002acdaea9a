import { z } from "zod";
import { accountStates } from "../access/account-state.ts";
import { roles, scopes } from "../access/scopes.ts";
import { examples, identifier, timestamp } from "./fields.ts";

const links = z
  .object({
    self: z.string().describe("The path of this resource."),
    settings: z.string().describe("The path of the settings."),
    api_keys: z.string().describe("The path of the API keys."),
  })
  .describe("Paths of related resources.");

/** The account as `GET /api/account/` shows it to its owner. */
export const AccountResource = z
  .object({
    id: identifier("The account"),
    display_name: z.string().describe("The name that other people see."),
    external_id: z
      .string()
      .nullable()
      .describe("The id of the account in another system, set by an administrator; unique in this deployment."),
    contact_address: z.string().nullable().describe("The verified address, or null."),
    contact_address_verified: z.boolean().describe("True when a code confirmed the contact address."),
    pending_contact_address: z.string().nullable().describe("A new address that is not confirmed yet."),
    locale: z.string().describe("The language of mails and pages, a BCP 47 tag."),
    timezone: z.string().describe("An IANA time zone."),
    status: z.enum(accountStates).describe("The state of the account, which decides what it may do."),
    status_changed_at: timestamp.nullable().describe("Time of the last change of status; null before the first."),
    status_reason: z.string().nullable().describe("The reason given for the last change of status."),
    created_at: timestamp,
    updated_at: timestamp,
    links,
  })
  .meta({ id: "Account", description: "An account, as its owner sees it." });

export type AccountResource = z.output<typeof AccountResource>;

export const accountExample: AccountResource = {
  id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
  display_name: "Ada Byron",
  external_id: null,
  contact_address: "ada@example.org",
  contact_address_verified: true,
  pending_contact_address: null,
  locale: "en",
  timezone: "Europe/London",
  status: "active",
  status_changed_at: null,
  status_reason: null,
  created_at: "2026-01-01T09:00:00.000Z",
  updated_at: "2026-01-02T10:30:00.000Z",
  links: { self: "/api/account/", settings: "/api/account/settings/", api_keys: "/api/account/api-keys/" },
};

examples.add(AccountResource, { example: accountExample });

/** An account as `GET /api/accounts/{id}` shows it to administrators. */
export const AdministeredAccountResource = AccountResource.extend({
  roles: z
    .array(z.enum(roles))
    .describe("Roles of the account at the built-in issuer. Tokens of another issuer carry their own."),
  scopes_max: z
    .array(z.enum(scopes))
    .nullable()
    .describe("Upper limit on the account's scopes, in tokens and keys alike; null for all scopes of its roles."),
  metadata: z.record(z.string(), z.string()).describe("Strings that administrators attach, by name, at most 20."),
  status_changed_by: z.enum(["owner", "administrator", "system"]).nullable().describe("Who changed the state last."),
  next_statuses: z
    .array(z.enum(accountStates))
    .describe("States that an administrator can set now; empty once the account is being erased."),
  recovery_requested_at: timestamp
    .nullable()
    .describe("Time at which the owner requested the recovery of the disabled account; null without a request."),
  purged_at: timestamp
    .nullable()
    .describe("Time at which the personal fields were erased; what remains is a tombstone."),
  links: z
    .object({
      self: z.string().describe("The path of this resource."),
      status: z.string().describe("The path of the state."),
      audit: z.string().describe("The path of the audit log."),
    })
    .describe("Paths of related resources."),
}).meta({ id: "AdministeredAccount", description: "An account, as administrators see it." });

export type AdministeredAccountResource = z.output<typeof AdministeredAccountResource>;

examples.add(AdministeredAccountResource, {
  example: {
    ...accountExample,
    status: "suspended",
    roles: ["owner"],
    scopes_max: null,
    external_id: "customer-4711",
    metadata: { plan: "pro" },
    status_changed_at: "2026-01-03T08:15:00.000Z",
    status_changed_by: "administrator",
    status_reason: "Payment failed three times.",
    next_statuses: ["active", "disabled", "deleted"],
    recovery_requested_at: null,
    purged_at: null,
    links: {
      self: `/api/accounts/${accountExample.id}`,
      status: `/api/accounts/${accountExample.id}/status`,
      audit: `/api/accounts/${accountExample.id}/audit/`,
    },
  },
});

/** The settings of an account; locale and time zone are the account's own values. */
export const AccountSettingsResource = z
  .object({
    locale: z.string().describe("The language of mails and pages, a BCP 47 tag."),
    timezone: z.string().describe("The time zone, an IANA name."),
    notifications: z
      .object({ product_updates: z.boolean().describe("True sends news about the product.") })
      .describe("The mails that the account wants to receive."),
    updated_at: timestamp,
    links: z
      .object({
        self: z.string().describe("The path of this resource."),
        account: z.string().describe("The path of the account."),
      })
      .describe("Paths of related resources."),
  })
  .meta({ id: "AccountSettings", description: "The settings of an account." })
  .register(examples, {
    example: {
      locale: "en",
      timezone: "Europe/London",
      notifications: { product_updates: false },
      updated_at: "2026-01-02T10:30:00.000Z",
      links: { self: "/api/account/settings/", account: "/api/account/" },
    },
  });

export type AccountSettingsResource = z.output<typeof AccountSettingsResource>;
