import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type PropertyDeclaration, refusalOfOverride } from "@signalbox/runtime";

type Catalogue = Readonly<Record<string, Readonly<Record<string, PropertyDeclaration>>>>;

/**
 * The properties that an operator can change remotely. Before adding a line, ask: can its worst value open a listener,
 * send data elsewhere, trust someone else, or remove a trace? Then it is `local`, or has a floor.
 */
const overridable = [
  "account.api-keys.environment",
  "account.api-keys.max",
  "account.audit.retention-days",
  "account.clients.max",
  "account.contact.objection-window",
  "account.invitations.max",
  "account.oauth.access-token-minutes",
  "account.oauth.client-failures",
  "account.oauth.client-requests",
  "account.oauth.key-rotation-days",
  "account.oauth.sign-in-requests",
  "account.oauth.sign-ins",
  "account.registration",
  "account.registration.domains",
  "account.require-verified-contact",
  "account.retention-days",
  "account.sign-in.methods",
  "account.sign-in.passkey-roles",
  "auth.principals.cache-max",
  "blobs.start-wait",
  "cache.command-timeout",
  "cache.memory.bytes-max",
  "canary.enabled",
  "capabilities.configStream",
  "capabilities.graphqlSubscriptions",
  "capabilities.imageAvif",
  "capabilities.imageDirectUpload",
  "capabilities.imageImport",
  "capabilities.signedUrls",
  "capabilities.webhooks",
  "config.streams.max",
  "config.streams.max-per-credential",
  "console.enabled",
  "console.links.dashboards",
  "console.links.trace",
  "database.connect-timeout",
  "database.lock-timeout",
  "database.pool.max",
  "database.pool.waiting-max",
  "database.statement-timeout",
  "defaults.locale",
  "defaults.pageSize",
  "docs.enabled",
  "events.inbox.retention",
  "events.message.max-bytes",
  "events.outbox.idle-poll",
  "events.publish-timeout",
  "features.integrations",
  "features.reports",
  "graphql.deadline",
  "graphql.document-cache.bytes-max",
  "graphql.graphiql",
  "graphql.introspection",
  "graphql.limits.aliases",
  "graphql.limits.anonymous-cost-window",
  "graphql.limits.anonymous-tokens",
  "graphql.limits.cost",
  "graphql.limits.cost-window",
  "graphql.limits.depth",
  "graphql.limits.directives",
  "graphql.limits.response",
  "graphql.limits.root-fields",
  "graphql.limits.tokens",
  "graphql.subgraph-deadline",
  "http.rate-limit.account.requests",
  "http.rate-limit.account.window",
  "http.rate-limit.anonymous.bytes",
  "http.rate-limit.anonymous.processor-time",
  "http.rate-limit.anonymous.requests",
  "http.rate-limit.anonymous.window",
  "http.rate-limit.credential.burst",
  "http.rate-limit.credential.bytes",
  "http.rate-limit.credential.processor-time",
  "http.rate-limit.credential.requests",
  "http.rate-limit.credential.window",
  "http.rate-limit.failed-sign-in.requests",
  "http.rate-limit.failed-sign-in.window",
  "image-worker.jobs",
  "images.cache.private",
  "images.cache.public",
  "images.direct-upload.bytes-max",
  "images.direct-upload.expires-after",
  "images.direct-upload.open-max",
  "images.import.deadline",
  "images.limits.aspect-ratio",
  "images.limits.avif-pixels",
  "images.limits.frame-pixels",
  "images.limits.frames",
  "images.originals.cache",
  "images.public.render-budget",
  "images.public.requests",
  "images.public.transforms",
  "images.public.window",
  "images.quota.bytes",
  "images.quota.images",
  "images.render.attempts",
  "images.render.avif-pixels",
  "images.render.lost-after",
  "images.render.memory",
  "images.render.memory-max",
  "images.render.wait-max",
  "images.sweep.grace",
  "limits.maxImagePixels",
  "limits.maxImageSide",
  "limits.maxPageSize",
  "limits.maxRequestBytes",
  "limits.maxUploadBytes",
  "limits.maxWebhookBytes",
  "limits.requestTimeoutSeconds",
  "log.level",
  "server.color",
  "server.logo-url",
  "server.name",
  "server.support-url",
  "supported.imageTypes",
  "supported.locales",
  "webhook-delivery.attempt.timeout",
  "webhook-delivery.attempts.in-flight-max",
  "webhook-delivery.attempts.in-flight-max-per-endpoint",
  "webhook-delivery.attempts.in-flight-max-per-host",
  "webhook-delivery.attempts.lease",
  "webhook-delivery.attempts.published",
  "webhook-delivery.endpoints.max",
  "webhook-delivery.failing.after",
  "webhook-delivery.failing.disable-after",
  "webhook-delivery.failing.disable-failures-min",
  "webhook-delivery.failing.failures-min",
  "webhook-delivery.failing.percent",
  "webhook-delivery.published-events.max",
  "webhook-delivery.pull.consumers-max",
  "webhook-delivery.pull.waits-max",
  "webhook-delivery.pull.waits-max-per-account",
  "webhook-delivery.replays.deliveries-max",
  "webhook-delivery.retention",
  "webhook-delivery.secret.rotation-overlap",
  "webhook-ingest.bookmarks.max",
  "webhook-ingest.received.retention",
  "webhook-ingest.reconciliation.interval",
  "webhook-ingest.refusals.failed-verifications",
  "webhook-ingest.refusals.unknown-sources",
  "webhook-ingest.rejections.max",
  "webhook-ingest.rejections.max-bytes",
  "webhook-ingest.sources.max",
  "webhook-ingest.tolerance",
];

const file = new URL("../src/generated/properties.json", import.meta.url);
const catalogue: Catalogue = JSON.parse(await readFile(file, "utf8"));
const declarations = Object.values(catalogue).flatMap((properties) => Object.entries(properties));

test("every overridable property was reviewed", () => {
  const open = declarations.filter(([, declaration]) => !declaration.local && declaration.secrecy !== "secret");
  assert.deepEqual([...new Set(open.map(([name]) => name))].sort(), overridable);
});

test("no override opens a listener, redirects data, or hides an actor", () => {
  const closed = ["http.host", "http.port", "internal.host", "internal.port", "http.base-url", "http.error-docs"];
  const moved = [
    "telemetry.otlp-endpoint",
    "mail.url",
    "mail.from",
    "blobs.url",
    "account.internal-url",
    "deployment.environment",
  ];
  for (const name of [
    ...closed,
    ...moved,
    "deployment.release",
    "auth.issuers",
    "http.trusted-proxies",
    "http.cors.origins",
  ]) {
    const declared = declarations.filter(([declaredName]) => declaredName === name);
    assert.ok(declared.length > 0, name);
    for (const [, declaration] of declared)
      assert.match(refusalOfOverride(declaration, "x") ?? "", /no override/, name);
  }
  const floors = [
    ["account.audit.retention-days", 29, 30],
    ["account.contact.objection-window", 23, 24],
    ["webhook-ingest.tolerance", 600_001, 600_000],
  ] as const;
  for (const [name, tooFar, furthest] of floors) {
    const [, declaration] = declarations.find(([declaredName]) => declaredName === name) ?? assert.fail(name);
    assert.match(refusalOfOverride(declaration, tooFar) ?? "", /integer/, name);
    assert.equal(refusalOfOverride(declaration, furthest), null, name);
  }
});

test("an override of the log level keeps warnings", () => {
  const [, declaration] = declarations.find(([name]) => name === "log.level") ?? assert.fail();
  for (const level of ["debug", "info", "warn"]) assert.equal(refusalOfOverride(declaration, level), null, level);
  for (const level of ["error", "silent"])
    assert.match(refusalOfOverride(declaration, level) ?? "", /debug, info, warn,/);
});

test("a property of several services is overridable in all of them or in none", () => {
  const byName = Map.groupBy(declarations, ([name]) => name);
  for (const [name, declared] of byName) {
    const kinds = declared.map(([, { local, secrecy, reload, audience }]) => ({ local, secrecy, reload, audience }));
    for (const kind of kinds) assert.ok(isDeepStrictEqual(kind, kinds[0]), name);
  }
});
