import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { ConfigurationError, defineProperties, loadConfiguration, mask } from "../index.ts";
import { createSanitizer } from "./masking.ts";

const common = { reload: "restart", effect: "Something." } as const;
const properties = defineProperties({
  "http.port": { ...common, type: "integer", default: 8080, secrecy: "internal" },
  "database.url": { ...common, type: "string", default: null, secrecy: "secret" },
  "mail.sender": { ...common, type: "string", default: null, secrecy: "sensitive" },
  "proxy.url": { ...common, type: "string", default: null, secrecy: "internal" },
  "signing.key": { ...common, type: "string", default: null, secrecy: "public" },
  "custom.pin": { ...common, type: "string", default: null, secrecy: "public" },
  "proxy.urls": { ...common, type: "list", default: [], secrecy: "public" },
  "management.endpoint.env.keys-to-sanitize": { ...common, type: "list", default: ["pin"], secrecy: "internal" },
});

const folder = mkdtempSync(join(tmpdir(), "signalbox-config-"));
after(() => rmSync(folder, { recursive: true }));

function load(argv: string[], yaml = "") {
  const directory = mkdtempSync(join(folder, "load-"));
  writeFileSync(join(directory, "signalbox.yaml"), yaml);
  const environment = { SIGNALBOX_HTTP_PORT: "9000", PATH: "/bin" };
  return loadConfiguration({ service: "account", properties, argv, environment, directory });
}

test("every source is listed in order of precedence with the origin of each value", () => {
  const sources = load(["--proxy.url=http://proxy:80"], "# first line\nhttp:\n  port: 7000\n").propertySources();
  assert.deepEqual(
    sources.map(({ name }) => name),
    ["command line", "environment", "overrides", "signalbox.yaml", "defaults"],
  );
  assert.deepEqual(sources[0]?.properties, { "proxy.url": { value: "http://proxy:80", origin: "--proxy.url" } });
  assert.deepEqual(sources[1]?.properties, { "http.port": { value: 9000, origin: "SIGNALBOX_HTTP_PORT" } });
  assert.deepEqual(sources[3]?.properties, { "http.port": { value: 7000, origin: "signalbox.yaml:3" } });
  assert.deepEqual(sources[4]?.properties["http.port"], { value: 8080 });
});

test("a property shows its effective value first, then every source in order", () => {
  const found = load([], "account.http.port: 7000\n").find("http.port");
  assert.deepEqual(found, {
    property: { source: "signalbox.yaml", value: 7000 },
    propertySources: [
      { name: "command line" },
      { name: "environment", property: { value: 9000, origin: "SIGNALBOX_HTTP_PORT" } },
      { name: "overrides" },
      { name: "signalbox.yaml", property: { value: 7000, origin: "signalbox.yaml:1" } },
      { name: "defaults", property: { value: 8080 } },
    ],
  });
  assert.deepEqual(load([]).find("account.http.port"), load([]).find("http.port"));
  assert.equal(load([]).find("nothing.here"), null);
  assert.equal(load([]).find("__proto__"), null);
});

/** Returns the output for these values: the views, or the error that refuses them. */
function shownOf(argument: string): unknown {
  try {
    const configuration = load([argument]);
    return [configuration.propertySources(), ...Object.keys(properties).map((name) => configuration.find(name))];
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    return [error.message, error.problems, error.stack];
  }
}

test("no secret leaves through the management view, or through the error that refuses it", () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9]{16,32}$/);
  const placed = secret.chain((value) =>
    fc.constantFrom(
      [`--database.url=${value}`, value],
      [`--mail.sender=${value}`, value],
      [`--proxy.url=http://user:${value}@proxy`, value],
      [`--proxy.url=https://x/?access_token=${value}`, value],
      [`--proxy.urls=http://a,http://${value}@b`, value],
      [`--signing.key=${value}`, value],
      [`--custom.pin=${value}`, value],
      [`--images.anything.at.all=${value}`, value],
      [`--proxy.url=sbx_test_${value}`, value],
      [`--proxy.url=-----BEGIN KEY-----${value}`, value],
    ),
  );
  fc.assert(
    fc.property(placed, ([argument, value]) => {
      const shown = JSON.stringify(shownOf(argument as string));
      assert.ok(!shown.includes(value as string));
      assert.ok(shown.includes("******"));
    }),
    { numRuns: 300 },
  );
});

test("an undeclared name is masked", () => {
  assert.equal(mask("anything", "harmless"), "******");
});

test("an absent secret is shown as absent", () => {
  assert.equal(mask("database.url", null, properties["database.url"]), null);
});

test("more names are masked by suffix or by expression, like in Spring Boot 2.7", () => {
  const isSanitized = createSanitizer(["pin", ".*internal.*", "^exact$"]);
  for (const name of ["custom.pin", "MY.PIN", "an.internal.thing", "exact"]) assert.ok(isSanitized(name), name);
  for (const name of ["pinned", "not.exact"]) assert.ok(!isSanitized(name), name);
});
