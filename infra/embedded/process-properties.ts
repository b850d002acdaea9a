import { imagingProperties } from "@signalbox/imaging/properties";
import { defineProperties, property, runtimeProperties } from "@signalbox/runtime";

/** The properties of every process, with those that the embedded process adds or changes. */
export const processProperties = defineProperties({
  ...imagingProperties,
  "embedded.data-directory": property.string(
    { default: ".signalbox" },
    "Folder of everything that outlives the process: database, blobs, keys.",
  ),
  "embedded.database-url": property.string(
    { default: null, pattern: "postgres(ql)?://[^/]+/?", secrecy: "secret" },
    "A PostgreSQL server of one's own for all databases: postgres://user:password@host:5432. Without it one is started.",
  ),
  // On one's own machine the configuration is for looking at; `env` still asks for a credential.
  "management.endpoints.web.exposure.include": {
    ...runtimeProperties["management.endpoints.web.exposure.include"],
    default: ["health", "metrics", "info", "env"],
  },
  // There is no other instance to send clients to, and the person who pressed Ctrl-C waits.
  "shutdown.keep-alive": { ...runtimeProperties["shutdown.keep-alive"], default: 100 },
  // People read the log of this mode at a terminal, where a line per request drowns what matters.
  "log.level": { ...runtimeProperties["log.level"], default: "warn" },
});
