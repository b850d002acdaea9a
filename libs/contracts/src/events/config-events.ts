import { z } from "zod";
import { jsonValue, timestamp } from "../resources/fields.ts";
import { FlagDefinition } from "../resources/flag.ts";
import { defineEvent } from "../topics/define-event.ts";

export const configChangedEvent = defineEvent({
  name: "config.changed",
  version: 1,
  topic: "signalbox.config.v1",
  subject: "property name",
  audience: "operator",
  description: "An override of a property was set, unset or rolled back. Secret properties take no override.",
  data: z.object({
    property: z.string().describe("The name of the property."),
    set: z.boolean().describe("False when the override was removed and the next source applies."),
    value: jsonValue,
    revision: z.int().describe("One per change; a reader applies only a higher one."),
    secrecy: z
      .enum(["public", "internal", "sensitive"])
      .describe("The secrecy of the property; the event never contains a secret value."),
    audience: z
      .enum(["public", "account", "operator"])
      .optional()
      .describe("The readers of the property: everyone, accounts or operators. Absent for operators."),
    actor: z.string().describe("Account id of the actor; `system` for an expiry."),
    reason: z.string().nullable().describe("The reason given."),
    changed_at: timestamp,
    together: z
      .int()
      .optional()
      .describe("Number of properties that the revision changes at the same time. Absent for one."),
    expires_at: timestamp.nullable().optional().describe("When the override expires."),
  }),
  example: {
    property: "limits.maxPageSize",
    set: true,
    value: 50,
    revision: 17,
    secrecy: "public",
    audience: "public",
    actor: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    reason: "Slow lists",
    changed_at: "2026-01-02T10:30:00.000Z",
    expires_at: null,
  },
});

export const flagChangedEvent = defineEvent({
  name: "flag.changed",
  version: 1,
  topic: "signalbox.config.v1",
  subject: "`flag:` and the key",
  audience: "operator",
  description: "A flag was set or archived.",
  data: z.object({
    flag: z.string().describe("The key of the flag."),
    definition: FlagDefinition.nullable().describe("Null when the flag was archived."),
    revision: z.int().describe("One per change, in the same sequence as those of properties."),
    actor: z.string().describe("Account id of the actor."),
    reason: z.string().nullable().describe("The reason given."),
    changed_at: timestamp,
  }),
  example: {
    flag: "checkout.new",
    definition: {
      key: "checkout.new",
      state: "enabled",
      type: "string",
      description: "The pages of the checkout.",
      variants: [
        { name: "new", value: "one" },
        { name: "old", value: "three" },
      ],
      default: "old",
      off: "old",
      rules: [{ percentage: 12.5, variant: "new" }],
      prerequisites: [],
      schedule: null,
      owner: "payments",
      expires: "2026-12-31",
      salt: "f3b1",
    },
    revision: 18,
    actor: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    reason: "First eighth",
    changed_at: "2026-01-02T10:31:00.000Z",
  },
});

export const configCanaryChangedEvent = defineEvent({
  name: "config.canary_changed",
  version: 1,
  topic: "signalbox.config.v1",
  subject: "`canary`",
  audience: "internal",
  description:
    "The config service's canary changed, as it does every minute. Every instance reads it like an override.",
  data: z.object({ changed_at: timestamp }),
  example: { changed_at: "2026-01-02T10:30:00.000Z" },
});

export const configAppliedEvent = defineEvent({
  name: "config.applied",
  version: 1,
  topic: "signalbox.config-applied.v1",
  subject: "service and instance, joined by a slash",
  audience: "internal",
  description: "The configuration of an instance, sent on start and on change.",
  data: z.object({
    service: z.string(),
    instance: z.string(),
    revision: z.int().describe("The last revision it applied; 0 before any."),
    published: z.record(z.string(), jsonValue).describe("Effective values of the published properties it uses."),
    values: z
      .record(
        z.string(),
        z.object({
          value: jsonValue,
          source: z.string(),
          pending: z.object({ value: jsonValue, revision: z.int() }).optional(),
        }),
      )
      .optional()
      .describe("Every property of the instance: the running value and the one pending a restart, masked."),
    pending_restart: z.array(z.string()).describe("Properties whose new value waits for a restart."),
    problems: z
      .array(z.string())
      .describe(
        "Overrides that the instance refused or could not start with, each with the reason but never with the value.",
      ),
    loaded_at: timestamp,
    applied_at: timestamp.optional().describe("When the instance applied that revision."),
    release: z.string().nullable().optional().describe("The release that it runs; null when it has no name."),
    draining: z.boolean().optional().describe("True once it has been told to stop."),
    workers: z
      .array(
        z.object({
          name: z.string(),
          state: z.enum(["running", "waiting", "stopped", "gave up"]),
          restarts: z.int(),
          last_beat_at: timestamp.nullable(),
        }),
      )
      .optional()
      .describe("Its named workers; the time is null for workers whose progress is not monitored."),
    ended: z.boolean().optional().describe("True in the last report of a stopping instance."),
  }),
  example: {
    service: "images",
    instance: "images-7d9f",
    revision: 17,
    published: { "limits.maxPageSize": 50 },
    values: { "limits.maxPageSize": { value: 50, source: "overrides" } },
    pending_restart: [],
    problems: [],
    loaded_at: "2026-01-02T10:30:00.120Z",
    applied_at: "2026-01-02T10:30:00.040Z",
  },
});
