import { defineProperties, property } from "./config/property-declaration.ts";

/** Needed before the overrides are read, or not allowed to change by one. */
const own = { reload: "restart", local: true } as const;
const port = (value: number, effect: string) =>
  property.integer({ ...own, default: value, min: 0, max: 65_535, unit: "port" }, effect);

const showValues = (value: "never" | "when-authorized" | "always", secrecy: string) =>
  property.string(
    { ...own, default: value, choices: ["never", "when-authorized", "always"] },
    `Who can read ${secrecy} values in the management \`env\`: nobody, callers with config:admin, or everyone who can read it.`,
  );

/** The properties of every process. Imports nothing heavy: telemetry starts before the rest is loaded. */
export const runtimeProperties = defineProperties({
  "http.host": property.string(
    { default: "127.0.0.1", ...own },
    "Address the public listener binds to; 0.0.0.0 listens on all.",
  ),
  "http.port": port(8080, "Port of the public listener; 0 chooses a free one."),
  "internal.host": property.string(
    { default: "127.0.0.1", ...own },
    "Address the internal listener binds to; never routed by the edge.",
  ),
  "internal.port": port(0, "Port of the internal listener; 0 chooses a free one."),
  "http.header-timeout": property.integer(
    { default: 15_000, unit: "ms", min: 100, max: 300_000, ...own },
    "Time limit for a client's request headers; then the answer is 408.",
  ),
  "http.stall-timeout": property.integer(
    { default: 30_000, unit: "ms", min: 1_000, max: 3_600_000, ...own },
    "Time after which a client that stops reading a response is disconnected.",
  ),
  "http.keep-alive-timeout": property.integer(
    { default: 75_000, unit: "ms", min: 1_000, max: 3_600_000, ...own },
    "Time for which an idle connection stays open. Must be longer than at the edge, or the edge sends requests to closed sockets.",
  ),
  "http.header-max-bytes": property.integer(
    // Proved webhooks have up to 64 KiB in one value.
    { default: 81_920, unit: "bytes", min: 1_024, max: 1_048_576, ...own },
    "Largest total size of the request headers; a larger request gets 431.",
  ),
  "http.base-url": property.string(
    {
      default: "http://127.0.0.1:8080",
      pattern: "https?://[^/]+(/[^/]+)*",
      format: "url",
      secrecy: "public",
      audience: "public",
      ...own,
    },
    "Absolute URL, without a slash at its end, under which clients reach this deployment.",
  ),
  "http.error-docs": property.string(
    {
      default: "/docs/errors",
      pattern: "(https?://[^/?#\\s]+)?(/[^/?#\\s]+)*",
      allowsEmpty: true,
      secrecy: "public",
      ...own,
    },
    "Page that explains the error codes, which every error links to; a path is relative to `http.base-url`.",
  ),
  "management.server.host": property.string(
    { default: "127.0.0.1", ...own },
    "Address the management server binds to.",
  ),
  "management.server.port": port(8081, "Port of the management server; 0 chooses a free one."),
  "management.endpoints.web.base-path": property.string(
    { default: "/management", pattern: "(/[A-Za-z0-9._~-]+)*", allowsEmpty: true, ...own },
    "Path prefix of every management endpoint.",
  ),
  "management.endpoints.web.exposure.include": property.list(
    { default: ["health", "metrics", "info"], choices: ["health", "metrics", "info", "env", "*"], ...own },
    "Exposed management endpoints; the others are 404.",
  ),
  "management.endpoint.env.show-values.public": showValues("always", "public"),
  "management.endpoint.env.show-values.internal": showValues("always", "internal"),
  "management.endpoint.env.show-values.sensitive": showValues("never", "sensitive"),
  "management.endpoint.env.keys-to-sanitize": property.list(
    { default: [], format: "name-pattern", ...own },
    "More names whose values are masked: a suffix, or a regular expression when it contains one of * $ ^ +.",
  ),
  "shutdown.deadline": property.integer(
    { default: 25_000, unit: "ms", min: 100, max: 600_000, ...own },
    "Time limit of a shutdown; after it the process exits with 1.",
  ),
  "shutdown.grace": property.integer(
    { default: 0, unit: "ms", min: 0, max: 120_000, ...own },
    "Time for which a stopping process is unready but still accepts work.",
  ),
  "shutdown.keep-alive": property.integer(
    { default: 3_000, unit: "ms", min: 0, max: 60_000, ...own },
    "Time for which a stopping process keeps idle connections open; longer than the edge and other services do (2 s), or a request may hit a closed one.",
  ),
  "config.start-wait": property.integer(
    { default: 10_000, unit: "ms", min: 100, max: 600_000, ...own },
    "Time that the start waits for the overrides before it falls back to those of the last run.",
  ),
  "config.copy-directory": property.string(
    { default: ".signalbox", ...own },
    "Folder for a copy of the active overrides, used when the event log is unavailable at the start.",
  ),
  "log.level": property.string(
    {
      default: "info",
      choices: ["debug", "info", "warn", "error", "silent"],
      // One operator must not hide what happens in every service.
      overrideChoices: ["debug", "info", "warn"],
      reload: "live",
    },
    "Lowest level of log lines that are written. An override cannot turn off warnings.",
  ),
  "telemetry.otlp-endpoint": property.string(
    { default: null, pattern: "https?://.+", format: "url", ...own },
    "Base URL of an OTLP/HTTP receiver for traces; without it nothing is exported or instrumented.",
  ),
  "telemetry.otlp-headers": property.list(
    { default: [], pattern: "[\\w.-]+=.+", secrecy: "secret", ...own },
    "Headers that the OTLP/HTTP receiver requires, such as a credential, as a list of name=value.",
  ),
  "telemetry.resource-attributes": property.list(
    { default: [], pattern: "[\\w.-]+=.+", ...own },
    "OpenTelemetry resource attributes besides name, version and location, as a list of name=value.",
  ),
  "telemetry.sample-ratio": property.number(
    { default: 1, min: 0, max: 1, ...own },
    "Share of new traces that are recorded; the sampling decision of a caller is respected.",
  ),
  "deployment.environment": property.string(
    { default: "development", secrecy: "public", audience: "account", ...own },
    "Name of the environment this process runs in, shown to clients.",
  ),
  "deployment.release": property.string(
    { default: null, audience: "operator", ...own },
    "Release that is running, shown in info and the environment resource.",
  ),
  "deployment.commit": property.string(
    { default: null, audience: "operator", ...own },
    "Commit the release was built from.",
  ),
  "deployment.region": property.string({ default: null, audience: "operator", ...own }, "Region the process runs in."),
  "deployment.platform": property.string({ default: "node", ...own }, "Platform the process runs on."),
});

export type RuntimeProperties = typeof runtimeProperties;
