import { internalProperties, issuerProperties, principalProperties } from "@signalbox/auth/properties";
import { capabilityProperties, defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { KiB, MiB } from "@signalbox/core";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { defineProperties, property } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { cacheProperties } from "@signalbox/storage/properties";

const subgraphUrl = (service: string) =>
  property.string(
    {
      default: null,
      required: `the ${service} subgraph is reached on its internal listener`,
      pattern: "https?://.+",
      format: "url",
      local: true,
    },
    `Address of the ${service} service's internal listener, which serves its subgraph.`,
  );

const limit = (value: number, max: number, effect: string, reload: "live" | "restart" = "live") =>
  property.integer({ default: value, min: 1, max, reload }, effect);

const flag = (effect: string) => property.boolean({ default: true, reload: "live" }, effect);

const timeLimit = (value: number, effect: string) =>
  property.integer({ default: value, unit: "ms", min: 100, max: 120_000 }, effect);

/** A URL that the console shows. */
const consoleLink = (pattern: string, effect: string) =>
  property.string({ default: null, pattern, format: "url", reload: "live" }, effect);

/** A URI of the deployment that everybody may read. */
const publicLink = (pattern: string, effect: string) =>
  property.string({ default: null, pattern, format: "url", secrecy: "public", local: true }, effect);

export const properties = defineProperties({
  ...runtimeProperties,
  ...cacheProperties,
  ...eventsProperties,
  ...internalProperties,
  ...principalProperties,
  ...httpProperties,
  "account.issuer.enabled": issuerProperties["account.issuer.enabled"],
  "images.internal-url": subgraphUrl("images"),
  "config.internal-url": subgraphUrl("config"),
  "webhook-ingest.internal-url": subgraphUrl("webhook-ingest"),
  "webhook-delivery.internal-url": subgraphUrl("webhook-delivery"),
  "console.enabled": flag("True serves the console, the web interface, at `/console/`."),
  "console.links.dashboards": consoleLink(
    "https?://.+",
    "Address of the dashboards of this deployment, which the console links on its pages for operators.",
  ),
  "console.links.trace": consoleLink(
    "https?://.*\\{trace_id\\}.*",
    "URL template of a page that shows a trace, with a `{trace_id}` placeholder; the console links messages to their traces.",
  ),
  "console.portal.origins": property.list(
    {
      default: [],
      pattern: "https://(\\*\\.)?[A-Za-z0-9.-]+(:[0-9]+)?|http://(localhost|127\\.0\\.0\\.1)(:[0-9]+)?",
      format: "url",
      local: true,
    },
    "Origins, such as `https://app.example`, whose pages may frame the portal at `/console/portal/`. If empty, the portal only opens in its own tab.",
  ),
  "docs.enabled": flag(
    "True serves the documentation at `/docs`: guide, reference, all routes and events. When off, the error codes are still served.",
  ),
  "http.health-url": publicLink(
    "https?://[^\\s]+",
    "Address of a health page that callers can reach; `/` links to it.",
  ),
  "http.security-contact": publicLink(
    "(mailto:|tel:|https://)[^\\s]+",
    "Contact for reports of vulnerabilities in `/.well-known/security.txt` (RFC 9116), as `mailto:security@example.org`.",
  ),
  "graphql.supergraph": property.string(
    { local: true, default: null },
    "Path or URL of a supergraph that replaces the built-in one; read every two seconds.",
  ),
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
    "Largest cost of an operation: an object 1, a mutation 10, the items of a page multiplied by `first`. Ten introspected objects count as one.",
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
  "graphql.limits.response": property.integer(
    { default: 16 * MiB, unit: "bytes", min: KiB, max: 64 * MiB, reload: "live" },
    "Largest size of an answer; a larger one is `LIMIT_RESPONSE`. One service may send 16 MiB.",
  ),
  "graphql.documents": property.string(
    { default: "apq", choices: ["any", "apq", "trusted"], local: true },
    "Allowed documents: `any`, also by the SHA-256 of an earlier one (`apq`), or only those in `graphql.trusted-documents`.",
  ),
  "graphql.trusted-documents": property.string(
    { local: true, default: null },
    "Path or URL of the manifest for `graphql.documents=trusted`; read every two seconds.",
  ),
  "graphql.introspection": flag("True allows introspection; false also removes suggestions of names from errors."),
  "graphql.graphiql": flag(
    "True serves GraphiQL to browsers at `/graphql`. It needs introspection, so `graphql.introspection` off disables it too.",
  ),
  "graphql.limits.mode": property.string(
    { default: "enforce", choices: ["enforce", "measure"], local: true },
    "With `measure`, the cost of an operation is reported in headers and in the log but never causes a refusal.",
  ),
  "capabilities.graphqlSubscriptions": capabilityProperties["capabilities.graphqlSubscriptions"],
  "defaults.pageSize": defaultProperties["defaults.pageSize"],
  "limits.maxPageSize": limitProperties["limits.maxPageSize"],
  "graphql.document-cache.bytes-max": property.integer(
    { default: 32 * MiB, unit: "bytes", min: 64 * KiB, max: 1_024 * MiB },
    "Memory for validated documents; the least recently used are evicted first.",
  ),
  "graphql.deadline": timeLimit(
    15_000,
    "Time limit of one operation with all its fetches; missing parts are `UNAVAILABLE`.",
  ),
  "graphql.subgraph-deadline": timeLimit(10_000, "Time limit of one fetch from a subgraph; only its fields fail then."),
});

export type Properties = typeof properties;
