import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { publishEvents } from "@signalbox/events";
import { type PropertyDeclaration, refusalOfOverride } from "@signalbox/runtime";
import { eventually, testEventLog, testPerson } from "@signalbox/testing";
import fc from "fast-check";
import { properties } from "../src/properties.ts";
import { valuesOf } from "./generated-values.ts";
import { type Harness, setProperty, startConfig } from "./harness.ts";

let config: Harness;
const operator = testPerson();
before(async () => {
  config = await startConfig();
});
after(() => config.close());

const paths = ["/api/v2/settings/", "/api/v1/config/", "/api/v1/env/", "/api/v1/status/config"];

/** Changes overrides like any writer of the state topic, an earlier version too; resolves once they are applied. */
async function write(values: Readonly<Record<string, unknown>>, revision: number): Promise<void> {
  const eventLog = await testEventLog(config.eventsUrl, config.context);
  const events = Object.entries(values).map(([property, value]) => {
    const data = { ...eventOf("config.changed").example, property, value: value as never, revision };
    return draft("config.changed", { subject: property, accountId: null, data });
  });
  await publishEvents({ ...config.context, eventLog }, events);
  await eventually(() => config.context.configuration.revision === revision);
}

async function assertServed(what: string): Promise<void> {
  for (const path of paths) {
    for (const who of path.includes("v2") ? [null, operator] : [operator]) {
      const { status, text } = await config.send(who, path);
      assert.equal(status, 200, `${path} with ${what}: ${text}`);
    }
  }
  const { data, errors } = await config.graphql(
    operator,
    "{ serverSettings { server { supportUrl } } properties { name value } }",
  );
  assert.ok(data && !errors, `${what}: ${JSON.stringify(errors)}`);
}

test("a URL that nobody can parse is refused where it is set", async () => {
  for (const value of ["https://h ost/", "https://h:99999/"]) {
    const { data } = await config.graphql(operator, setProperty, {
      input: { name: "server.support-url", value, expectedRevision: "0" },
    });
    assert.match(data.setProperty.errors[0].message, /must be an absolute URL/, value);
  }
});

test("a bad value of an earlier version is left out by itself, with its name in the status", async () => {
  await write({ "server.support-url": "https://h ost/", "server.name": "House" }, 1_000);
  const { body } = await eventually(async () => {
    const settings = await config.send(null, "/api/v2/settings/");
    return settings.body.server?.name === "House" && settings;
  });
  assert.equal(body.server.supportUrl, null);
  const problems = await eventually(async () => {
    const { body: status } = await config.send(operator, "/api/v1/status/config");
    return status.validation.problems.length > 0 && status.validation.problems;
  });
  assert.match(problems.join(), /server\.support-url must be an absolute URL/);
});

const shown = Object.entries(properties as Record<string, PropertyDeclaration>).filter(
  ([, { audience, secrecy, local }]) => audience !== undefined && secrecy !== "secret" && !local,
);

test("whatever a shown property may be set to, the routes answer with", async () => {
  let revision = 2_000;
  const changes = fc.record(Object.fromEntries(shown.map(([name, declaration]) => [name, valuesOf(declaration)])), {
    requiredKeys: [],
  });
  await fc.assert(
    fc.asyncProperty(changes, async (all) => {
      const accepted = Object.entries(all).filter(
        ([name, value]) => refusalOfOverride(Object.fromEntries(shown)[name] as PropertyDeclaration, value) === null,
      );
      if (accepted.length > 0) await write(Object.fromEntries(accepted), ++revision);
      await assertServed(JSON.stringify(accepted));
    }),
    { numRuns: 15 },
  );
});
