/**
 * Who may import whom. Each rule says why; the picture is in docs/architecture.md.
 */

/** Lowest first: a library may import those of earlier lines, not those beside it. */
const layers = [["core"], ["contracts", "runtime"], ["storage", "net"], ["events"], ["auth"], ["http"], ["service"]];

/** Beside the layers: these compute, and need no more than the core. */
const leaves = ["imaging", "federation", "webhook-signatures"];

/** The one library or folder that may import a third-party client. Everyone else uses what the home offers. */
const homes = {
  kafkajs: "libs/events",
  "lz4-napi": "libs/events",
  snappy: "libs/events",
  minio: "libs/storage",
  pg: "libs/storage",
  "@prisma/adapter-pg": "libs/storage",
  ioredis: "libs/storage/src/cache",
  undici: "libs/net",
  sharp: "libs/imaging",
  "libheif-js": "libs/imaging",
  express: "libs/http",
  jose: "libs/auth",
  pino: "libs/runtime/src/telemetry",
  "prom-client": "libs/runtime/src/telemetry",
  "@opentelemetry/[^/]+": "libs/runtime/src/telemetry",
  "@apollo/subgraph": "libs/http/src/graphql",
  "@apollo/(gateway|query-planner|federation-internals)": "libs/federation",
  nodemailer: "services/account/src/mail",
  "oidc-provider": "services/account/src/identity",
  "@simplewebauthn/server": "services/account/src/passkeys",
  "(react|react-dom|@tanstack/[^/]+)": "services/console",
};

/** Tests, and what only tests import: fixtures, a service's harness, and the suite that every adapter of a port runs. */
const tests = "^(libs/testing|test-e2e|bench)/|\\.test\\.ts$|\\.contract\\.ts$|/test/|/test-[a-z-]+\\.ts$";

const layerRules = layers.map((names, index) => ({
  name: `layer-${names.join("-")}`,
  comment: "Libraries form layers, so that a change below never has to know what is above it.",
  severity: "error",
  from: { path: `^libs/(${names.join("|")})/` },
  to: { path: "^libs/([^/]+)/", pathNot: `^libs/($1|${layers.slice(0, index).flat().concat("testing").join("|")})/` },
}));

const homeRules = Object.entries(homes).map(([client, home]) => ({
  name: `home-of-${client.replaceAll(/[^a-z]+/g, "-").replaceAll(/^-|-$/g, "")}`,
  comment: `${client} is spoken in ${home} alone: its quirks, time limits and metrics are handled once, and it can be replaced there.`,
  severity: "error",
  // A test may hold an independent client against ours: a reader that shares our code would share our mistakes.
  from: { pathNot: `^${home}/|${tests}` },
  to: { path: `(^|/)node_modules/(@types/)?${client}/` },
}));

export default {
  forbidden: [
    ...layerRules,
    ...homeRules,
    {
      name: "leaves",
      comment:
        "What only computes stays free of configuration, telemetry and I/O, so it can be tested and reused as it is.",
      severity: "error",
      from: { path: `^libs/(${leaves.join("|")})/` },
      to: { path: "^libs/([^/]+)/", pathNot: "^libs/($1|core|testing)/" },
    },
    {
      name: "client-knows-the-api",
      comment: "Client and command know what any program of a user knows: the documents and the HTTP API.",
      severity: "error",
      from: { path: "^libs/client/" },
      to: { path: "^libs/([^/]+)/", pathNot: "^libs/(client|testing)/" },
    },
    {
      name: "client-knows-no-command",
      comment: "The client is loaded by browsers; the command is a program of Node that uses it.",
      severity: "error",
      from: { path: "^libs/client/src/", pathNot: "^libs/client/src/command/" },
      to: { path: "^libs/client/src/command/" },
    },
    {
      name: "decoder-lives-in-children",
      comment: "A hostile image may end the process that loads the decoder: only the children of the pool do.",
      severity: "error",
      from: { path: "^libs/imaging/src/", pathNot: `^libs/imaging/src/child/|${tests}` },
      to: { path: "^libs/imaging/src/child/|(^|/)node_modules/(sharp|libheif-js|thumbhash)/" },
    },
    {
      name: "libraries-know-no-product",
      comment: "A library serves every service, so it depends on none. `testing` alone starts engines.",
      severity: "error",
      from: { path: "^libs/", pathNot: "^libs/testing/" },
      to: { path: "^(services|infra|bench|test-e2e)/" },
    },
    {
      name: "testing-starts-engines-only",
      comment: "Fixtures need real engines, and nothing else of infra or of a service.",
      severity: "error",
      from: { path: "^libs/testing/" },
      to: { path: "^(services|infra|bench|test-e2e)/", pathNot: "^infra/engines/" },
    },
    {
      name: "services-know-no-service",
      comment:
        "Services share libs/contracts and the network: one that imports another's code can no longer be deployed alone.",
      severity: "error",
      from: { path: "^services/([^/]+)/" },
      to: { path: "^(services|infra|bench|test-e2e)/", pathNot: "^services/$1/" },
    },
    {
      name: "console-speaks-the-api",
      comment:
        "The console runs in browsers and is a client like any other: what it needs and the API lacks is added to the API.",
      severity: "error",
      from: { path: "^services/console/src/", pathNot: tests },
      to: { path: "^(libs|services)/", pathNot: "^(services/console|libs/client)/" },
    },
    {
      name: "services-are-joined-in-embedded",
      comment: "One place builds all services in one process. Anyone else who needs a service talks to it over HTTP.",
      severity: "error",
      from: { path: "^(infra|bench|test-e2e)/", pathNot: "^infra/embedded/" },
      to: { path: "^services/" },
    },
    {
      name: "testing-is-for-tests",
      comment: "Production code that imports fixtures ships engines, fakes and their dependencies.",
      severity: "error",
      from: { pathNot: tests },
      to: { path: "^libs/testing/" },
    },
    {
      name: "tests-are-not-imported",
      comment: "A test file that others import runs its tests in theirs.",
      severity: "error",
      from: {},
      to: { path: "\\.test\\.ts$" },
    },
    {
      name: "front-doors",
      comment:
        "Across packages by name and through the door it exports; a path into another package's rooms breaks when it is tidied.",
      severity: "error",
      from: { path: "^((libs|services)/[^/]+|infra|bench|test-e2e)/" },
      to: { path: "^(libs|services)/", pathNot: "^$1/", dependencyTypes: ["local"], dependencyTypesNot: ["aliased"] },
    },
    {
      name: "property-doors-are-light",
      comment: "Telemetry must start before the modules it instruments are loaded, and it needs the properties first.",
      severity: "error",
      from: { path: "^(libs|services)/[^/]+/src/(published-)?properties\\.ts$" },
      to: {
        reachable: true,
        path: "node_modules/(express|pg|kafkajs|undici|ioredis|minio|sharp|graphql|@prisma/[^/]+)/",
      },
    },
    {
      name: "main-starts-only",
      comment: "main.ts loads service.ts when telemetry runs; a static import would load everything before it.",
      severity: "error",
      from: { path: "^services/[^/]+/src/main\\.ts$" },
      to: { path: "^services/", pathNot: "/src/properties\\.ts$", dependencyTypesNot: ["dynamic-import"] },
    },
    {
      name: "composition-root-is-on-top",
      comment:
        "service.ts joins capabilities to adapters. What it builds takes its dependencies from it and never reaches back.",
      severity: "error",
      from: { path: "^services/([^/]+)/src/", pathNot: `^services/[^/]+/src/(main|first-key)\\.ts$|${tests}` },
      to: { path: "^services/[^/]+/src/(service|main)\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "capabilities-know-no-edge",
      comment: "REST, GraphQL and events translate and call the same operations, so an operation knows none of them.",
      severity: "error",
      from: { path: "^services/[^/]+/src/[^/]+/", pathNot: `^services/[^/]+/src/graphql/|${tests}` },
      to: { path: "^services/[^/]+/src/(graphql/|(routes|consumers|workers)\\.ts$)" },
    },
    {
      name: "rows-stay-in-the-store",
      comment: "The database client is the store's business. Domain types may take the types of columns from it.",
      severity: "error",
      from: { path: "^services/", pathNot: `-store\\.ts$|/src/service\\.ts$|/src/generated/|${tests}` },
      to: { path: "^services/[^/]+/src/generated/prisma/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-cycles",
      comment: "Two modules that need each other, by a type as well, are one module or hide a third.",
      severity: "error",
      from: { pathNot: "/src/generated/" },
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "An import that resolves to nothing fails at run time, perhaps on the day the branch is taken.",
      severity: "error",
      // A program that runs in a folder of its own, with the packages of its own lock.
      from: { pathNot: "^test-e2e/generated-clients/spectral/" },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    // A library is resolved through its package's exports, as Node does, to the file behind the workspace's link.
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
    cache: { folder: "node_modules/.cache/dependency-cruiser", strategy: "content" },
  },
};
