import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, it } from "node:test";
import {
  createCertificates,
  eventually,
  type OwnEngine,
  startEngine,
  type TestCertificates,
  testContext,
} from "@signalbox/testing";
import pg from "pg";
import { migrate } from "../migrations/migrate.ts";
import { openPool } from "./pool.ts";
import { sql } from "./prepared-statement.ts";

const context = testContext("account", {});
let engine: OwnEngine;
let certificates: TestCertificates;

before(async () => {
  certificates = await createCertificates();
  engine = await startEngine("postgres");
  await install(certificates);
  await eventually(async () => (await sslOf(verified(certificates.caFile))) === "on");
});
after(async () => {
  await context.close();
  await engine.close();
  await certificates.remove();
});

const verified = (caFile: string) => {
  const url = new URL(engine.url);
  url.hostname = "localhost";
  url.search = `?sslmode=verify-full&sslrootcert=${caFile}`;
  return url.href;
};

/**
 * Makes the server present a certificate. The server writes the files itself, because it may run under another account.
 */
async function install({ certFile, keyFile }: Pick<TestCertificates, "certFile" | "keyFile">): Promise<void> {
  const admin = new pg.Client({ connectionString: engine.url });
  await admin.connect();
  for (const [name, file] of Object.entries({ "server.crt": certFile, "server.key": keyFile })) {
    const program = `umask 077; printf "%b" "$(cat)" > ${name}`; // a copy writes line ends as \\n
    await admin.query(`copy (select $pem$${await readFile(file, "utf8")}$pem$) to program '${program}'`);
  }
  await admin.query("alter system set ssl = on");
  await admin.query("select pg_reload_conf()");
  await admin.end();
}

async function sslOf(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query("show ssl").finally(() => client.end());
  return rows[0].ssl;
}

const start = (url: string) =>
  migrate({ url, service: "account", prismaDirectory: null, libraryMigrations: [], log: context.log, waitMs: 0 });

it("a database with a certificate of the named authority is used over TLS, migrations included", async () => {
  const url = verified(certificates.caFile);
  await start(url);
  const pool = openPool({ url, max: 2, applicationName: "tls", ...context });
  const used = sql("tls.used", "select ssl from pg_stat_ssl where pid = pg_backend_pid()");
  assert.deepEqual((await pool.query<{ ssl: boolean }>(used)).rows, [{ ssl: true }]);
});

it("a certificate of another authority ends the start with a sentence", async () => {
  const refusal = { name: "MigrationError", message: /refused the connection: .*(certificate|self-signed)/ };
  await assert.rejects(start(verified(certificates.otherCaFile)), refusal);
});

it("a certificate of another name ends the start with a sentence", async () => {
  await install(await certificates.issue("elsewhere"));
  const refusal = { name: "MigrationError", message: /refused the connection: .*altnames/ };
  await eventually(() => assert.rejects(start(verified(certificates.caFile)), refusal).then(() => true));
});

it("an expired certificate ends the start with a sentence until it is renewed", async () => {
  const url = verified(certificates.caFile);
  await install(await certificates.issue("localhost", { endsAt: new Date(Date.now() - 60_000) }));
  const refusal = { name: "MigrationError", message: /refused the connection: .*expired/ };
  await eventually(() => assert.rejects(start(url), refusal).then(() => true));
  await install(await certificates.issue("localhost"));
  await eventually(() => start(url).then(() => true));
});
