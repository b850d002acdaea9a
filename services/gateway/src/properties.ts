import { internalProperties, issuerProperties, principalProperties } from "@signalbox/auth/properties";
import { capabilityProperties, defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { KiB, MiB } from "@signalbox/core";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { defineProperties } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { cacheProperties } from "@signalbox/storage/properties";

const subgraphUrl = (service: string) =>
  ({
    type: "string",
    default: null,
    required: `the ${service} subgraph is reached on its internal listener`,
    pattern: "https?://.+",
    format: "url",
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
  "auth.issuers": issuerProperties["auth.issuers"],
  "images.internal-url": subgraphUrl("images"),
  "config.internal-url": subgraphUrl("config"),
  "webhook-ingest.internal-url": subgraphUrl("webhook-ingest"),
  "webhook-delivery.internal-url": subgraphUrl("webhook-delivery"),
  "console.enabled": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "live",
    effect: "True serves the console, the pages for people, at `/console/`.",
  },
  "console.links.dashboards": {
    type: "string",
    default: null,
    pattern: "https?://.+",
    format: "url",
    secrecy: "internal",
    reload: "live",
    effect: "Address of the dashboards of this deployment, which the console links on its pages for operators.",
  },
  "console.links.trace": {
    type: "string",
    default: null,
    pattern: "https?://.*\\{trace_id\\}.*",
    format: "url",
    secrecy: "internal",
    reload: "live",
    effect: "Address that shows a trace, with `{trace_id}` in its place; the console links messages to their traces.",
  },
  "console.portal.origins": {
    type: "list",
    default: [],
    pattern: "https://(\\*\\.)?[A-Za-z0-9.-]+(:[0-9]+)?|http://(localhost|127\\.0\\.0\\.1)(:[0-9]+)?",
    format: "url",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Origins, such as `https://app.example`, whose pages may frame the portal at `/console/portal/`. Without any it opens in a tab of its own only; the console is never framed.",
  },
  "docs.enabled": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "live",
    effect:
      "True serves the documents at `/docs`: guide, reference, all routes and events. Off, the error codes remain.",
  },
  "http.health-url": {
    local: true,
    type: "string",
    default: null,
    pattern: "https?://[^\\s]+",
    format: "url",
    secrecy: "public",
    reload: "restart",
    effect: "An address of the health that callers can reach, which `/` links to; left out, there is no such link.",
  },
  "http.security-contact": {
    local: true,
    type: "string",
    default: null,
    pattern: "(mailto:|tel:|https://)[^\\s]+",
    format: "url",
    secrecy: "public",
    reload: "restart",
    effect:
      "Who takes reports of vulnerabilities, as `mailto:security@example.org`: `/.well-known/security.txt` says it (RFC 9116). Left out, there is no such file.",
  },
  "graphql.executor": {
    type: "string",
    default: "ours",
    choices: ["ours", "apollo"],
    secrecy: "internal",
    reload: "restart",
    effect: "Executor of operations: `ours`, which needs half the processor time or less, or that of @apollo/gateway.",
  },
  "graphql.supergraph": {
    type: "string",
    local: true,
    default: null,
    secrecy: "internal",
    reload: "restart",
    effect:
      "A path or URL of a supergraph that replaces the built-in one; checked for changes every two seconds. Its subgraphs are those of the gateway.",
  },
  "graphql.limits.depth": limit(16, 100, "Largest depth of a document; fragments count where they are spread."),
  "graphql.limits.aliases": limit(
    30,
    1_000,
    "Largest number of aliases in an operation; fragments count where they are spread.",
  ),
  "graphql.limits.root-fields": limit(
    20,
    1_000,
    "Largest number of root fields in an operation. `__schema` and `__type` count together, and one is allowed.",
  ),
  "graphql.limits.directives": limit(50, 1_000, "Largest number of directives in a document."),
  "graphql.limits.tokens": limit(4_000, 100_000, "Largest number of tokens in a document; counted by the parser."),
  "graphql.limits.anonymous-tokens": limit(
    1_000,
    100_000,
    "Largest number of tokens in a document of a caller without a credential.",
  ),
  "graphql.limits.cost": limit(
    5_000,
    100_000,
    "Largest cost of an operation: an object 1, a mutation 10, the items of a page multiplied by `first`. Introspection counts the objects of its answer.",
  ),
  "graphql.limits.cost-window": limit(
    50_000,
    1_000_000,
    "Largest cost of one credential's operations in ten seconds; a refused document costs its tokens.",
    "restart",
  ),
  "graphql.limits.anonymous-cost-window": limit(
    20_000,
    1_000_000,
    "Largest cost in a minute of the operations of one address without credentials; a refused document costs its tokens.",
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
    effect: "Largest size of an answer; a larger one is `LIMIT_RESPONSE`. One service may send 16 MiB.",
  },
  "graphql.documents": {
    type: "string",
    default: "apq",
    choices: ["any", "apq", "trusted"],
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Allowed documents: `any` text, texts and the SHA-256 of earlier ones (`apq`), or only those of `graphql.trusted-documents`.",
  },
  "graphql.trusted-documents": {
    type: "string",
    local: true,
    default: null,
    secrecy: "internal",
    reload: "restart",
    effect:
      "A path or URL of the manifest for `graphql.documents=trusted`, of Apollo, Relay or GraphQL Code Generator; checked for changes every two seconds.",
  },
  "graphql.introspection": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "live",
    effect: "True allows introspection; false also removes suggestions of names from errors.",
  },
  "graphql.graphiql": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "live",
    effect:
      "True serves GraphiQL to browsers at `/graphql`. It needs introspection, so `graphql.introspection` off disables it too.",
  },
  "graphql.limits.mode": {
    type: "string",
    default: "enforce",
    choices: ["enforce", "measure"],
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "With `measure` the cost of an operation is only reported, in headers and in the log, and never a reason for a refusal.",
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
    effect: "Largest memory of checked documents; the least recently used are removed first.",
  },
  "graphql.deadline": {
    type: "integer",
    default: 15_000,
    unit: "ms",
    min: 100,
    max: 120_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time limit of one operation with all its fetches; missing parts are `UNAVAILABLE`.",
  },
  "graphql.subgraph-deadline": {
    type: "integer",
    default: 10_000,
    unit: "ms",
    min: 100,
    max: 120_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Time limit of one fetch from a subgraph; only its fields fail then.",
  },
});

export type Properties = typeof properties;
