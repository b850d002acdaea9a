import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { ConfigurationError, defineProperties, loadConfiguration } from "../index.ts";

const properties = defineProperties({
  "http.port": {
    type: "integer",
    default: 8080,
    min: 0,
    max: 65535,
    unit: "port",
    secrecy: "internal",
    reload: "restart",
    effect: "Port.",
  },
  "log.level": {
    type: "string",
    default: "info",
    choices: ["debug", "info"],
    secrecy: "internal",
    reload: "live",
    effect: "Level.",
  },
  "upload.types": { type: "list", default: ["png"], secrecy: "public", reload: "live", effect: "Types." },
  "sample.ratio": { type: "number", default: 1, min: 0, max: 1, secrecy: "public", reload: "live", effect: "Ratio." },
  "cache.enabled": { type: "boolean", default: true, secrecy: "public", reload: "live", effect: "Cache." },
  "release.name": { type: "string", default: null, secrecy: "public", reload: "restart", effect: "Release." },
});

const folder = mkdtempSync(join(tmpdir(), "signalbox-config-"));
after(() => rmSync(folder, { recursive: true }));

function load(given: {
  argv?: string[];
  environment?: Record<string, string>;
  files?: Record<string, string | Buffer>;
  profile?: string;
}) {
  const directory = mkdtempSync(join(folder, "load-"));
  for (const [name, text] of Object.entries(given.files ?? {})) writeFileSync(join(directory, name), text);
  return loadConfiguration({
    service: "account",
    properties,
    argv: given.argv ?? [],
    environment: given.environment ?? {},
    directory,
    profile: given.profile,
  });
}

function problemsOf(run: () => unknown) {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    return error.problems;
  }
  return assert.fail("the start was not stopped");
}

test("a prefixed name beats a bare one in any source; among equals the higher source wins", () => {
  const places = ["argv", "environment", "profile", "file"] as const;
  const places2 = fc.uniqueArray(fc.record({ place: fc.constantFrom(...places), prefixed: fc.boolean() }), {
    selector: ({ place, prefixed }) => `${place}${prefixed}`,
  });
  fc.assert(
    fc.property(places2, (written) => {
      const portOf = (place: string, prefixed: boolean) =>
        1000 + places.indexOf(place as "argv") * 10 + (prefixed ? 1 : 0);
      const lines = (place: string) =>
        written
          .filter((one) => one.place === place)
          .map((one) => ({
            name: one.prefixed ? "account.http.port" : "http.port",
            port: portOf(place, one.prefixed),
          }));
      const configuration = load({
        argv: lines("argv").map(({ name, port }) => `--${name}=${port}`),
        environment: Object.fromEntries(
          lines("environment").map(({ name, port }) => [
            `SIGNALBOX_${name.toUpperCase().replaceAll(".", "_")}`,
            `${port}`,
          ]),
        ),
        files: {
          "signalbox.test.yaml": lines("profile")
            .map(({ name, port }) => `${name}: ${port}\n`)
            .join(""),
          "signalbox.yaml": lines("file")
            .map(({ name, port }) => `${name}: ${port}\n`)
            .join(""),
        },
        profile: "test",
      });
      const ranked = [...written].sort(
        (a, b) => Number(b.prefixed) - Number(a.prefixed) || places.indexOf(a.place) - places.indexOf(b.place),
      );
      const winner = ranked[0];
      assert.equal(configuration.get("http.port"), winner ? portOf(winner.place, winner.prefixed) : 8080);
      assert.equal(configuration.find("http.port")?.property.value, configuration.get("http.port"));
      assert.equal(configuration.find("http.port")?.property.source, configuration.sourceOf("http.port"));
    }),
    { numRuns: 150 },
  );
});

test("the start stops with every problem of every source, each with its origin and the expected value", () => {
  const problems = problemsOf(() =>
    load({
      argv: ["--http.port=80a", "stray"],
      environment: { SIGNALBOX_LOG_LEVEL: "loud", SIGNALBOX_SAMPLE_RATOI: "1" },
      files: { "signalbox.yaml": "cache:\n  enabled: perhaps\nupload:\n  types: { a: 1 }\nhtpp.port: 1\n" },
    }),
  );
  assert.deepEqual(
    problems.map(({ property, source, value, expected }) => `${property} | ${source} | ${value} | ${expected}`),
    [
      "command line | stray | unreadable | arguments of the form --name=value",
      'http.port | --http.port | "80a" | an integer in port from 0 to 65535',
      'log.level | SIGNALBOX_LOG_LEVEL | "loud" | one of: debug, info',
      'SIGNALBOX_SAMPLE_RATOI | SIGNALBOX_SAMPLE_RATOI | "1" | a known property, such as SIGNALBOX_SAMPLE_RATIO',
      'cache.enabled | signalbox.yaml:2 | "perhaps" | true or false',
      'upload.types.a | signalbox.yaml:4 | "1" | a known property, such as upload.types',
      'htpp.port | signalbox.yaml:5 | "1" | a known property, such as http.port',
    ],
  );
});

test("a start in a shell that the signalbox command was set up for is not stopped by its variables", () => {
  const environment = { SIGNALBOX_URL: "http://h", SIGNALBOX_API_KEY: "key", SIGNALBOX_WEBHOOK_SECRET: "whsec_" };
  assert.equal(load({ environment }).get("http.port"), 8080);
});

test("an unknown property is named with the one that was meant, never with a secret value", () => {
  const shared = { default: null, reload: "restart", effect: "Something." } as const;
  const declared = defineProperties({
    "management.server.port": { ...shared, type: "integer", secrecy: "internal" },
    "management.server.host": { ...shared, type: "string", secrecy: "internal" },
    "internal.token": { ...shared, type: "string", secrecy: "secret" },
  });
  const messageOf = (argv: string[], environment = {}) => {
    try {
      loadConfiguration({ service: "account", properties: declared, argv, environment, directory: null });
    } catch (error) {
      return (error as Error).message.replace(/^.*\n {2}/, "");
    }
    return assert.fail("the start was not stopped");
  };
  assert.equal(
    messageOf(["--management.port=9000"]),
    'Unknown property "management.port". Did you mean "management.server.port"? ' +
      'It was given by --management.port with the value "9000".',
  );
  assert.equal(
    messageOf([], { SIGNALBOX_MANAGEMENT_SERVER_PROT: "9000" }),
    'Unknown property "SIGNALBOX_MANAGEMENT_SERVER_PROT". Did you mean "SIGNALBOX_MANAGEMENT_SERVER_PORT"? ' +
      'It was given by SIGNALBOX_MANAGEMENT_SERVER_PROT with the value "9000".',
  );
  for (const secret of ["--intrenal.token=Hunter2", "--internal.tkoen=Hunter2"]) {
    assert.match(messageOf([secret]), /^Unknown property "\S+"\. Did you mean "internal\.token"\?$/);
  }
  assert.equal(
    messageOf(["--help=Hunter2"]),
    'Unknown property "help". docs/reference/properties.md lists all of them.',
  );
});

test("a number or public value is shown whatever its name", () => {
  const shared = { default: null, reload: "restart", effect: "Something." } as const;
  const named = defineProperties({
    "limit.per.credential.requests": { ...shared, type: "integer", secrecy: "internal" },
    "public.key": { ...shared, type: "string", pattern: "[a-z]+", secrecy: "public" },
    "inner.key": { ...shared, type: "string", pattern: "[a-z]+", secrecy: "internal" },
    "hidden.count": { ...shared, type: "integer", secrecy: "sensitive" },
  });
  const argv = [
    "--limit.per.credential.requests=many",
    "--public.key=A7",
    "--inner.key=B8",
    "--hidden.count=C9",
    // A misplaced secret is recognised by its form.
    "--account.limit.per.credential.requests=sbx_dev_D0",
  ];
  const problems = problemsOf(() =>
    loadConfiguration({ service: "account", properties: named, argv, environment: {}, directory: null }),
  );
  assert.deepEqual(
    problems.map(({ value }) => value),
    ['"many"', '"A7"', '"******"', '"******"', '"******"'],
  );
});

test("an invalid value stops the start even where another source has precedence", () => {
  const problems = problemsOf(() => load({ argv: ["--http.port=1"], environment: { SIGNALBOX_HTTP_PORT: "" } }));
  assert.equal(problems[0]?.source, "SIGNALBOX_HTTP_PORT");
});

test("a missing required property shows why it has no default", () => {
  const required = defineProperties({
    "database.url": {
      type: "string",
      default: null,
      required: "every installation has its own",
      secrecy: "secret",
      reload: "restart",
      effect: "Database.",
    },
  });
  const problems = problemsOf(() =>
    loadConfiguration({ service: "account", properties: required, argv: [], environment: {}, directory: null }),
  );
  assert.match(problems[0]?.expected ?? "", /every installation has its own/);
});

test("an invalid secret is not shown in its refusal", () => {
  const secret = defineProperties({
    "internal.token": {
      type: "string",
      default: null,
      pattern: "[a-z]{32}",
      secrecy: "secret",
      reload: "restart",
      effect: "Token.",
    },
  });
  try {
    loadConfiguration({
      service: "account",
      properties: secret,
      argv: ["--internal.token=Hunter2"],
      environment: {},
      directory: null,
    });
    assert.fail("the start was not stopped");
  } catch (error) {
    assert.doesNotMatch(String(error), /Hunter2/);
  }
});

test("variables that Kubernetes injects for a service called signalbox are ignored", () => {
  const configuration = load({
    environment: {
      SIGNALBOX_ACCOUNT_SERVICE_HOST: "10.0.0.1",
      SIGNALBOX_ACCOUNT_PORT: "tcp://10.0.0.1:80",
      SIGNALBOX_SERVICE_PORT: "80",
      SIGNALBOX_PORT_80_TCP_ADDR: "10.0.0.1",
    },
  });
  assert.equal(configuration.get("http.port"), 8080);
});

test("names of other services are allowed in a shared source", () => {
  const configuration = load({
    environment: { SIGNALBOX_IMAGES_HTTP_PORT: "1" },
    files: { "signalbox.yaml": "webhook-delivery.outbound.allow: ['127.0.0.1:*']\nhttp.port: 5\n" },
  });
  assert.equal(configuration.get("http.port"), 5);
});

test("a string in a file keeps its spelling", () => {
  assert.equal(load({ files: { "signalbox.yaml": "release.name: 1.10\n" } }).get("release.name"), "1.10");
});

test("an empty string means none where none is allowed", () => {
  assert.equal(load({ environment: { SIGNALBOX_RELEASE_NAME: "" } }).get("release.name"), null);
});

/** Files that an editor, another program or a mistake leaves behind, with the one sentence about each. */
const oddFiles: Readonly<Record<string, readonly [content: string | Buffer, at: string, expected: string]>> = {
  "UTF-16": [Buffer.from("\ufeffhttp.port: 80\n", "utf16le"), "signalbox.yaml:1", "text in UTF-8"],
  "Latin-1": [Buffer.from("http.port: 80\nrelease.name: Café\n", "latin1"), "signalbox.yaml:2", "text in UTF-8"],
  "no YAML": ["a: 1\nhttp:\n\tport: [1\n", "signalbox.yaml:3", "valid YAML (Tabs are not allowed as indentation)"],
  "two documents": ["http.port: 80\n---\nhttp.port: 81\n", "signalbox.yaml:2", "one YAML document"],
  "an alias of itself": ["http: &http\n  port: *http\n", "signalbox.yaml:2", "no alias of a map inside it"],
  "an alias of nothing": ["http.port: *none\n", "signalbox.yaml:1", "the anchor of an alias before it"],
  "a name that is a list": ["http.port: 80\n? [a]\n: 1\n", "signalbox.yaml:2", "names that are strings"],
  "a large integer": [
    "http.port: 9007199254740993\n",
    "signalbox.yaml:1",
    "an integer in port from 0 to 65535 with at most 15 digits",
  ],
};

for (const [kind, [content, at, expected]] of Object.entries(oddFiles)) {
  test(`a file with ${kind} is refused in one sentence that names the place`, () => {
    const problems = problemsOf(() => load({ files: { "signalbox.yaml": content } }));
    assert.deepEqual(
      problems.map(({ source, expected: right }) => [source, right]),
      [[at, expected]],
    );
  });
}

test("a file that cannot be read is refused by its name", () => {
  const directory = mkdtempSync(join(folder, "unreadable-"));
  mkdirSync(join(directory, "signalbox.yaml"));
  const problems = problemsOf(() =>
    loadConfiguration({ service: "account", properties, argv: [], environment: {}, directory }),
  );
  assert.deepEqual(
    problems.map(({ source, expected }) => [source, expected]),
    [["signalbox.yaml", "a file that can be read (EISDIR)"]],
  );
});

test("true in any case of letters is true", () => {
  for (const [written, read] of [
    ["True", true],
    ["FALSE", false],
  ] as const)
    assert.equal(load({ files: { "signalbox.yaml": `cache.enabled: ${written}\n` } }).get("cache.enabled"), read);
});
