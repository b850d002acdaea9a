import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { type TestDatabase, testDatabase } from "@signalbox/testing";

const folder = join(import.meta.dirname, "../..");
const databases: TestDatabase[] = [];
before(async () => {
  databases.push(await testDatabase(), await testDatabase());
});
after(() => Promise.all(databases.map((database) => database.close())));

const run = (args: readonly string[], variables: Record<string, string>) =>
  promisify(execFile)("sh", [join(folder, "infra/docker/run-service.sh"), ...args], {
    cwd: folder,
    env: { PATH: `${join(process.execPath, "..")}:/usr/bin:/bin`, ...variables },
  });

test("the job `migrate` migrates each named database to this version, and reports missing ones", async () => {
  const [account, config] = databases as [TestDatabase, TestDatabase];
  const urls = { SIGNALBOX_ACCOUNT_DATABASE_URL: account.url, SIGNALBOX_CONFIG_DATABASE_URL: config.url };
  const { stdout } = await run(["migrate", "account", "config"], urls);
  assert.match(stdout, /^account is at this version\nconfig is at this version\n$/);
  assert.match((await run(["migrate", "account"], urls)).stdout, /^account is at this version\n$/);
  await assert.rejects(run(["migrate", "gateway"], urls), {
    code: 1,
    stderr: /^gateway has no database: name one of account, /,
  });
  await assert.rejects(run(["migrate"], urls), {
    code: 1,
    stderr: /database\.url.*every service has a database of its own/s,
  });
});

test("the job `first-key` prints a key of an administrator and nothing else", async () => {
  const [account] = databases as [TestDatabase, TestDatabase];
  const { stdout } = await run(["first-key"], {
    SIGNALBOX_DATABASE_URL: account.url,
    SIGNALBOX_INTERNAL_TOKEN: "t".repeat(32),
    SIGNALBOX_SECRETS_KEYS: `first:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_MAIL_URL: "log:",
    SIGNALBOX_EVENTS_URL: "kafka://127.0.0.1:1",
  });
  assert.match(stdout, /^sbx_[A-Za-z0-9_]+\n$/);
});
