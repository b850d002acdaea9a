import { z } from "zod";
import { accountStates } from "../access/account-state.ts";
import { AccountResource, AccountSettingsResource, accountExample } from "../resources/account.ts";
import { changed, exampleOf, identifier, timestamp } from "../resources/fields.ts";
import { defineEvent } from "../topics/define-event.ts";

const topic = "signalbox.account.v1";
const subject = "account id";
const audience = "account";
/** These members came later; records from before are still in the log. */
const late = { status_changed_at: true, status_reason: true, external_id: true } as const;
const data = AccountResource.partial(late).extend({ changed });

export const accountCreatedEvent = defineEvent({
  name: "account.created",
  version: 1,
  topic,
  subject,
  audience,
  description: "An identity was used for the first time, and its account was created.",
  data,
  example: { ...accountExample, changed: [] },
});

export const accountUpdatedEvent = defineEvent({
  name: "account.updated",
  version: 1,
  topic,
  subject,
  audience,
  description: "A field of the account changed. A write that changes nothing emits nothing.",
  data,
  example: { ...accountExample, changed: ["display_name"] },
});

export const accountSettingsUpdatedEvent = defineEvent({
  name: "account.settings_updated",
  version: 1,
  topic,
  subject,
  audience,
  description: "A setting of the account changed. Locale and time zone belong to both and emit both events.",
  data: AccountSettingsResource.extend({ account_id: identifier("The account"), changed }),
  example: { ...exampleOf(AccountSettingsResource), account_id: accountExample.id, changed: ["notifications"] },
});

export const accountContactVerifiedEvent = defineEvent({
  name: "account.contact_verified",
  version: 1,
  topic,
  subject,
  audience,
  description: "The contact address was confirmed by its holder.",
  data,
  example: { ...accountExample, changed: ["contact_address", "contact_address_verified"] },
});

export const accountStatusChangedEvent = defineEvent({
  name: "account.status_changed",
  version: 1,
  topic,
  subject,
  audience,
  description: "The status of the account changed.",
  data: data.extend({
    previous_status: z.enum(accountStates).describe("The state before the change."),
    actor: z.enum(["owner", "administrator", "system"]).describe("Who changed it."),
    reason: z.string().nullable().describe("The reason given."),
  }),
  example: {
    ...accountExample,
    status: "suspended",
    changed: ["status"],
    previous_status: "active",
    actor: "administrator",
    reason: "Unpaid invoice",
  },
});

export const accountDeletedEvent = defineEvent({
  name: "account.deleted",
  version: 1,
  topic,
  subject,
  audience,
  description: "The account was purged. Only this removes its images, sources and endpoints. Carries no personal data.",
  data: z.object({ id: identifier("The account"), created_at: timestamp, deleted_at: timestamp, changed }),
  example: {
    id: accountExample.id,
    created_at: accountExample.created_at,
    deleted_at: "2026-02-01T00:00:00.000Z",
    changed: [],
  },
});

/** The state of a thing that can act. Credentials are `active` or `revoked`; accounts have their own states. */
const accessStates = [...accountStates, "revoked"] as const;

export const accessChangedEvent = defineEvent({
  name: "access.changed",
  version: 1,
  topic: "signalbox.access.v1",
  subject: "`account:`, `key:`, `client:` or `token:` and the id",
  audience: "internal",
  description:
    "The current access of an account, key, client or access token, for enforcement everywhere. A reader applies only a higher epoch.",
  data: z.object({
    kind: z.enum(["account", "key", "client", "token"]),
    id: identifier("The account, key, client, or token as `jti:<issuer>:<jti>`"),
    account_id: identifier("The account it acts for"),
    state: z.enum(accessStates),
    epoch: z.int().describe("Increases with every change of this subject, including changes of its scopes."),
    changed_at: timestamp,
    not_before: timestamp
      .nullable()
      .optional()
      .describe("For an account: tokens from another issuer that were issued up to this time are no longer accepted."),
  }),
  example: {
    kind: "account",
    id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    state: "suspended",
    epoch: 4,
    changed_at: "2026-01-02T10:30:00.000Z",
  },
});

/** The account of the canary. Nobody signs in to it, and it has no row. */
export const canaryAccountId = "acc_canary";

export const accountCanaryChangedEvent = defineEvent({
  name: "account.canary_changed",
  version: 1,
  topic,
  subject,
  audience: "internal",
  description:
    "The account service's canary changed, as it does every minute. It is delivered to the deployment's own receiver.",
  data: z.object({ changed_at: timestamp }),
  example: { changed_at: "2026-01-02T10:30:00.000Z" },
});
