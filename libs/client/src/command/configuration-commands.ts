import { type Command, declare } from "./declare.ts";

const changeOptions = {
  reason: { type: "string", value: "text", describe: "Reason for the change, shown in the history" },
  "dry-run": { type: "boolean", describe: "Shows the effect without changing anything" },
  yes: { type: "boolean", short: "y", describe: "Skips the confirmation" },
} as const;
const expires = {
  type: "string",
  value: "time",
  describe: "Time at which the change expires, such as 2026-01-31T09:00:00Z",
} as const;
const name = { name: "name", describe: "Name of the property, such as limits.maxPageSize" };
const key = { name: "key", describe: "Key of the flag, such as checkout.new" };

/** The commands of operators: properties and flags, which need config:admin, and what happens right now. */
export const configurationCommands: readonly Command[] = [
  declare({
    name: "logs",
    summary: "Follow deliveries and received webhooks as they come",
    description:
      "Shows the deliveries that the operator's webhook-delivery.attempts.published selects, and every received webhook.",
    options: {},
    examples: ["signalbox logs", "signalbox logs --json"],
    load: () => import("./commands/logs.ts"),
  }),
  declare({
    name: "properties list",
    summary: "List properties with their values and sources",
    description: "Shows what your scopes let you see; config:read is needed.",
    args: [{ name: "part", describe: "Part of the name", optional: true }],
    options: {},
    examples: ["signalbox properties list", "signalbox properties list rate-limit"],
    load: async () => (await import("./commands/properties.ts")).list,
  }),
  declare({
    name: "properties get",
    summary: "Show a property with its overrides",
    description: "A name with a service prefix, such as images.database.pool.max, is the property of that service.",
    args: [name],
    options: {},
    examples: ["signalbox properties get limits.maxPageSize"],
    load: async () => (await import("./commands/properties.ts")).get,
  }),
  declare({
    name: "properties set",
    summary: "Override a property",
    description: "Shows the effect, asks for confirmation, and waits until the instances run with it.",
    args: [name, { name: "value", describe: "New value; commas separate list items, null means none" }],
    options: { ...changeOptions, expires },
    examples: ["signalbox properties set limits.maxPageSize 50 --reason 'Too slow'"],
    load: async () => (await import("./commands/properties.ts")).set,
  }),
  declare({
    name: "properties unset",
    summary: "Remove an override",
    description: "The value then comes from the next source: a file, or the default.",
    args: [name],
    options: { ...changeOptions, expires },
    examples: ["signalbox properties unset limits.maxPageSize --reason 'Fast again'"],
    load: async () => (await import("./commands/properties.ts")).unset,
  }),
  declare({
    name: "flags list",
    summary: "List the feature flags",
    description: "Needs config:admin, because rules name accounts.",
    options: {},
    examples: ["signalbox flags list"],
    load: async () => (await import("./commands/flags.ts")).list,
  }),
  declare({
    name: "flags get",
    summary: "Print the definition of a flag",
    description: "The JSON is what signalbox flags set takes.",
    args: [key],
    options: {},
    examples: ["signalbox flags get checkout.new > flag.json"],
    load: async () => (await import("./commands/flags.ts")).get,
  }),
  declare({
    name: "flags set",
    summary: "Create or replace a flag",
    description: "Checks it first, asks for confirmation, and waits until the instances evaluate with it.",
    args: [{ name: "file", describe: "JSON of the flag; - reads standard input" }],
    options: changeOptions,
    examples: ["signalbox flags set flag.json --reason 'A new checkout'"],
    load: async () => (await import("./commands/flags.ts")).set,
  }),
  declare({
    name: "flags roll-out",
    summary: "Roll out a variant to a share of the accounts",
    description: "An account that has the variant keeps it while the share rises.",
    args: [key, { name: "percentage", describe: "Share of the accounts, from 0 to 100" }],
    options: {
      ...changeOptions,
      variant: { type: "string", value: "name", describe: "Variant to roll out; on by default" },
    },
    examples: ["signalbox flags roll-out checkout.new 10 --reason 'A tenth first'"],
    load: async () => (await import("./commands/flags.ts")).rollOut,
  }),
  declare({
    name: "flags import",
    summary: "Import flags from flagd or Unleash",
    description:
      "Takes flagd's flags.json, Unleash's /api/client/features or an Unleash export. Checks every flag first: if any cannot be\n" +
      "converted, its place is shown and none is set. Shares keep their sizes, but their accounts are reassigned.",
    args: [{ name: "file", describe: "JSON of the other product; - reads standard input" }],
    options: {
      ...changeOptions,
      from: { type: "string", value: "product", describe: "flagd or unleash; detected from the file by default" },
      environment: { type: "string", value: "name", describe: "Environment of an Unleash export" },
      owner: { type: "string", value: "name", describe: "Contact for questions about the flags" },
    },
    examples: [
      "signalbox flags import flags.json --owner payments --reason 'From flagd' --dry-run",
      "signalbox flags import export.json --environment production --owner web --reason 'From Unleash'",
    ],
    load: () => import("./commands/flags-import.ts"),
  }),
];
