import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type EventLog, openEventLog } from "@signalbox/events";
import { eventually, type GuardedKafka, startGuardedKafka, startProcess, testContext } from "@signalbox/testing";

const services = ["account", "image-worker"] as const;
const watcher = "--events.watchers=User:signalbox-exporter";
const principals = "--events.principals=User:signalbox-{service}";

describe("the topics on a broker with principals", () => {
  const { log, metrics, clock, ...context } = testContext("images", {});
  const opened: EventLog[] = [];
  let kafka: GuardedKafka;
  before(async () => {
    kafka = await startGuardedKafka([...services.map((name) => `signalbox-${name}`), "signalbox-exporter", "my-team"]);
  });
  after(async () => {
    for (const eventLog of opened) await eventLog.close();
    await context.close();
    await kafka.close();
  });

  async function topics(...args: string[]) {
    const command = startProcess(join(import.meta.dirname, "topics.ts"), [...args, `--events.url=${kafka.url}`]);
    const { code } = await command.exited;
    return { code, stdout: command.stdout, stderr: command.stderr };
  }

  async function as(service: (typeof services)[number] | "exporter"): Promise<EventLog> {
    const url = kafka.urlOf(`signalbox-${service}`);
    const eventLog = await openEventLog(url, { clientId: service, log, metrics, clock });
    opened.push(eventLog);
    return eventLog;
  }
  const record = (topic: string) => [{ topic, key: "account:acc_1", headers: {}, value: Buffer.from("{}") }];

  test("each service gets exactly the rights of the table: only account writes access states", async () => {
    const before = await topics("check", principals);
    assert.equal(before.code, 1);
    const applied = await topics(principals, watcher, "--events.topics.replication-factor=1");
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /8 principals have exactly the required rights/);

    const [account, worker] = [await as("account"), await as("image-worker")];
    // The broker enforces the controller's changes a moment later.
    await eventually(() => account.publish(record("signalbox.access.v1")).then(() => true));
    await eventually(() => worker.publish(record("signalbox.image-rendered.v1")).then(() => true));
    await assert.rejects(worker.publish(record("signalbox.access.v1")), /[Aa]uthoriz/);
    await assert.rejects(worker.publish(record("signalbox.audit.v1")), /[Aa]uthoriz/);

    const read: string[] = [];
    const reader = await worker.broadcast({
      service: "image-worker",
      instance: "test",
      topics: ["signalbox.access.v1"],
      from: "start",
      onRecord: ({ key }) => void read.push(key),
    });
    await reader.caughtUp;
    assert.deepEqual(read, ["account:acc_1"]);
    await reader.close();
    await worker.lag("image-worker.jobs", ["signalbox.image-render.v1"]);
    await assert.rejects(worker.lag("images.facts", ["signalbox.image-render.v1"]), /[Aa]uthoriz/, "nor its group");
  });

  test("another team reads only its topics, in groups of its own", async () => {
    const given = await topics("reader", "my-team", "signalbox.account.v1");
    assert.deepEqual([given.code, given.stderr], [0, ""]);
    const team = await openEventLog(kafka.urlOf("my-team"), { clientId: "my-team", log, metrics, clock });
    opened.push(team);
    await eventually(() => team.lag("my-team.billing", ["signalbox.account.v1"]).then(() => true));
    await assert.rejects(team.lag("account.audit", ["signalbox.account.v1"]), /[Aa]uthoriz/, "no group of a service");
    const reader = { service: "my-team", instance: "test", topics: ["signalbox.account.v1"], from: "start" } as const;
    const read = await team.broadcast({ ...reader, onRecord: () => {} });
    await read.caughtUp;
    await read.close();
    await assert.rejects(team.publish(record("signalbox.account.v1")), /[Aa]uthoriz/);
    for (const [args, said] of [
      [["account-reports", "signalbox.image.v1"], /too close to account/],
      [["My Team", "signalbox.image.v1"], /lower-case letters/],
      [["my-team", "signalbox.access.v1"], /signalbox\.access\.v1 is not a topic for readers/],
      [["my-team"], /Name the topics to read: .*signalbox\.image\.v1/],
    ] as const) {
      const refused = await topics("reader", ...args);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, said);
    }
  });

  test("a watcher can only read how far each group is", async () => {
    const exporter = await as("exporter");
    await exporter.lag("images.facts", ["signalbox.image-render.v1"]);
    await exporter.lag("image-worker.jobs", ["signalbox.image-render.v1"]);
    await assert.rejects(exporter.publish(record("signalbox.access.v1")), /[Aa]uthoriz/);
  });

  test("a right outside the table is reported, then removed", async () => {
    const admin = await as("account").then(() =>
      openEventLog(kafka.url, { clientId: "operator", log, metrics, clock }),
    );
    opened.push(admin);
    const surplus = { principal: "User:signalbox-image-worker", writes: ["signalbox.access.v1"], reads: [] };
    await admin.ensureAccess([{ ...surplus, groupPrefix: "everything", describedGroups: [] }]);
    const answer = await topics("check", principals);
    assert.match(
      answer.stderr,
      /User:signalbox-image-worker may write the topic signalbox\.access\.v1, which it does not/,
    );
    assert.match(answer.stderr, /User:signalbox-image-worker may not read the topic signalbox\.image-render\.v1/);
    assert.equal((await topics(principals)).code, 0);
    assert.equal((await topics("check", principals)).code, 0);
  });

  test("replication settings that a broker can change are applied; moving replicas is left to an operator", async () => {
    const answer = await topics("--events.topics.replication-factor=3", "--events.topics.min-insync-replicas=2");
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /signalbox\.access\.v1: has 1 copies instead of 3/);
    assert.doesNotMatch(answer.stderr, /min\.insync/, "set, and verified");
    const back = await topics("check", "--events.topics.min-insync-replicas=1");
    assert.match(back.stderr, /signalbox\.access\.v1: min\.insync\.replicas is 2 instead of 1/);
    assert.equal((await topics("--events.topics.min-insync-replicas=1")).code, 0);
  });
});
