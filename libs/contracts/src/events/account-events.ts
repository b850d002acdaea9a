import { z } from "zod";
import { accountStates } from "../access/account-state.ts";
import { defineEvent } from "../define-event.ts";
import {
  AccountResource,
  AccountSettingsResource,
  accountExample,
  accountSettingsExample,
} from "../resources/account.ts";
import { changed, identifier, timestamp } from "../resources/fields.ts";

const topic = "signalbox.account.v1";
const subject = "account id";
const audience = "account";
const data = AccountResource.extend({ changed });

export const accountCreatedEvent = defineEvent({
  name: "account.created",
  version: 1,
  topic,
  subject,
  audience,
  description: "An identity was used for the first time and has an account now.",
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
  example: { ...accountSettingsExample, account_id: accountExample.id, changed: ["notifications"] },
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
  description: "The account moved to another state.",
  data: data.extend({
    previous_status: z.enum(accountStates),
    actor: z.enum(["owner", "administrator", "system"]),
    reason: z.string().nullable(),
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
