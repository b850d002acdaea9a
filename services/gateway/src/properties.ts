import { internalProperties, principalProperties } from "@signalbox/auth/properties";
import { cacheProperties } from "@signalbox/cache/properties";
import { defineProperties } from "@signalbox/config";
import { capabilityProperties, defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { KiB, MiB } from "@signalbox/core";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";

const subgraphUrl = (service: string) =>
  ({
    type: "string",
    default: null,
    required: `the ${service} subgraph is reached on its internal listener`,
    pattern: "https?://.+",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: `Address of the ${service} service's internal listener, which serves its subgraph.`,
  }) as const;

const limit = (value: number, max: number, effect: string, reload: "live" | "restart" = "live") =>
  ({ type: "integer", default: value, min: 1, max, secrecy: "internal", reload, effect }) as const;

/** Every property of the gateway. */
export const properties = defineProperties({
  ...runtimeProperties,
  ...cacheProperties,
  ...eventsProperties,
  ...internalProperties,
  ...principalProperties,
  ...httpProperties,
  "images.internal-url": subgraphUrl("images"),
  "config.internal-url": subgraphUrl("config"),
  "webhook-ingest.internal-url": subgraphUrl("webhook-ingest"),
  "webhook-delivery.internal-url": subgraphUrl("webhook-delivery"),
  "docs.reader": {
    local: true,
    type: "string",
    default: null,
    secrecy: "internal",
    reload: "restart",
    effect:
      "The file dist/browser/standalone.js of the npm package @scalar/api-reference: /docs shows all routes with it. Left out, there is no such page.",
  },
  "graphql.executor": {
    type: "string",
    default: "ours",
    choices: ["ours", "apollo"],
    secrecy: "internal",
    reload: "restart",
    effect: "Who runs operations: `ours`, which needs half the processor time or less, or that of @apollo/gateway.",
  },
  "graphql.supergraph": {
    type: "string",
    local: true,
    default: null,
    secrecy: "internal",
    reload: "restart",
    effect:
      "A path or URL of a supergraph instead of the one that comes with the gateway; followed every two seconds. Its subgraphs are those of the gateway.",
  },
  "graphql.limits.depth": limit(16, 100, "How deep a document may nest; fragments count where they are spread."),
  "graphql.limits.aliases": limit(30, 1_000, "How many aliases a document may use."),
  "graphql.limits.root-fields": limit(20, 1_000, "How many root fields a document may select."),
  "graphql.limits.directives": limit(50, 1_000, "How many directives a document may use."),
  "graphql.limits.tokens": limit(4_000, 100_000, "How many tokens a document may have; counted while it is parsed."),
  "graphql.limits.cost": limit(
    5_000,
    100_000,
    "What an operation may cost: an object 1, a mutation 10, the items of a page as often as `first` says.",
  ),
  "graphql.limits.cost-window": limit(
    50_000,
    1_000_000,
    "What the operations of one credential may cost in ten seconds.",
    "restart",
  ),
  "graphql.limits.anonymous-cost-window": limit(
    2_000,
    1_000_000,
    "What the operations of one address without credentials may cost in a minute.",
    "restart",
  ),
  "graphql.limits.response": {
    type: "integer",
    default: 16 * MiB,
    unit: "bytes",
    min: KiB,
    max: 64 * MiB,
    secrecy: "internal",
    reload: "live",
    effect: "How large an answer may be; a larger one is `LIMIT_RESPONSE`. One service may give 16 MiB.",
  },
  "graphql.documents": {
    type: "string",
    default: "apq",
    choices: ["any", "apq", "trusted"],
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Which documents are run: `any` text, texts and those sent before by their SHA-256 (`apq`), or those of `graphql.trusted-documents` alone.",
  },
  "graphql.trusted-documents": {
    type: "string",
    local: true,
    default: null,
    secrecy: "internal",
    reload: "restart",
    effect:
      "A path or URL of the manifest for `graphql.documents=trusted`, of Apollo, Relay or GraphQL Code Generator; followed every two seconds.",
  },
  "graphql.introspection": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "live",
    effect: "Whether clients may ask for the schema; off also leaves out of errors which names there are.",
  },
  "graphql.graphiql": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "live",
    effect:
      "Whether browsers get GraphiQL at `/graphql`. It reads the schema, so `graphql.introspection` off ends it too.",
  },
  "graphql.limits.mode": {
    type: "string",
    default: "enforce",
    choices: ["enforce", "measure"],
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "With `measure` the cost of an operation is only told, in headers and in the log, and nothing is refused for it.",
  },
  "capabilities.graphqlSubscriptions": capabilityProperties["capabilities.graphqlSubscriptions"],
  "defaults.pageSize": defaultProperties["defaults.pageSize"],
  "limits.maxPageSize": limitProperties["limits.maxPageSize"],
  "graphql.document-cache.bytes-max": {
    type: "integer",
    default: 32 * MiB,
    unit: "bytes",
    min: 64 * KiB,
    max: 1_024 * MiB,
    secrecy: "internal",
    reload: "restart",
    effect: "How much memory checked documents may take; those that were not used longest are forgotten.",
  },
  "graphql.deadline": {
    type: "integer",
    default: 15_000,
    unit: "ms",
    min: 100,
    max: 120_000,
    secrecy: "internal",
    reload: "restart",
    effect: "How long one operation may take, with all its fetches; what is missing by then is `UNAVAILABLE`.",
  },
  "graphql.subgraph-deadline": {
    type: "integer",
    default: 10_000,
    unit: "ms",
    min: 100,
    max: 120_000,
    secrecy: "internal",
    reload: "restart",
    effect: "How long one fetch from a subgraph may take; its fields then fail alone.",
  },
});

export type Properties = typeof properties;
