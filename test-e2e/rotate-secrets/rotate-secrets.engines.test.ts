import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { embeddedServices } from "@signalbox/infra/embedded/embedded-services.ts";
import { processProperties } from "@signalbox/infra/embedded/process-properties.ts";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import pg from "pg";
import { names, startTwoServices, type TwoServices } from "./two-services.ts";

const [former, next] = ["f".repeat(32), "n".repeat(32)];
const opened = new AsyncDisposableStack();
let services: TwoServices;

before(async () => {
  services = await startTwoServices(opened, { "internal.token": former });
});
after(() => opened.disposeAsync());

/** Restarts one service after another: between any two restarts, processes with different values talk to each other. */
async function roll(properties: Readonly<Record<string, string>>, order = names as readonly (typeof names)[number][]) {
  for (const name of order) {
    await services.restart(name, properties);
    assert.equal(await services.asNewcomer(), 200, `${name} with ${Object.keys(properties)}`);
  }
}

test("the page says of every secret how it is rotated", async () => {
  const page = await readFile(join(repositoryFolder, "docs/how-to/rotate-secrets.md"), "utf8");
  const declared = [processProperties, ...embeddedServices.map(({ properties }) => properties)];
  const secrets = declared.flatMap((each) => Object.entries(each).filter(([, { secrecy }]) => secrecy === "secret"));
  const names = [...new Set(secrets.map(([name]) => name))];
  assert.deepEqual(
    names.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

test("the token of all internal listeners is rotated in either order without a refusal on the way", async () => {
  assert.equal(await services.asNewcomer(), 200);
  await roll({ "internal.token": `${former},${next}` });
  await roll({ "internal.token": `${next},${former}` }, ["config", "account"]);
  await roll({ "internal.token": next });
  await services.restart("config", { "internal.token": former });
  assert.notEqual(await services.asNewcomer(), 200, "the former token opens nothing any more");
});

test("the token of one caller is rotated: the listener first, then the caller, then the listener again", async () => {
  await services.restart("account", { "internal.callers": `config=${former}` });
  assert.equal(await services.asNewcomer(), 200);
  await services.restart("account", { "internal.callers": `config=${former},config=${next}` });
  assert.equal(await services.asNewcomer(), 200);
  await services.restart("config", { "internal.token": next });
  assert.equal(await services.asNewcomer(), 200);
  await services.restart("account", { "internal.callers": `config=${next}` });
  assert.equal(await services.asNewcomer(), 200);
});

test("the password of a database is rotated by two roles that take turns", async () => {
  const url = new URL(services.databaseUrls.config);
  const role = `${url.pathname.slice(1)}_b`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  opened.defer(async () => {
    await client.query(`drop owned by ${role} cascade; drop role ${role}`).finally(() => client.end());
  });
  await client.query(`create role ${role} login password 'another' in role ${pg.escapeIdentifier(url.username)}`);
  await client.query(
    `alter role ${role} in database ${url.pathname.slice(1)} set role to ${pg.escapeIdentifier(url.username)}`,
  );
  const other = Object.assign(new URL(url), { username: role, password: "another" });
  await services.restart("config", { "database.url": other.href });
  assert.equal(await services.asNewcomer(), 200);
  const { rows } = await client.query(
    "select distinct usename from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
    [url.pathname.slice(1)],
  );
  assert.deepEqual(rows, [{ usename: role }], "nobody signs in with the former password any more");
});
