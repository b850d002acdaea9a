import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MiB, serviceNames } from "@signalbox/core";
import { eventually, freePort } from "@signalbox/testing";
import { createCaller } from "./caller.ts";
import { type ComposedSystem, composedSystem } from "./composed-system.ts";
import { describeImage, memoryOf, startOf } from "./measure.ts";
import { linesWith, once, runbookCommands } from "./page-lines.ts";

const up = "docker compose up --detach";
let system: ComposedSystem;
let showKey = "";
const timeout = { timeoutMs: 600_000 };

before(async () => {
  // The first line builds the image, which is there.
  const [, makeSecrets = "", ...rest] = await linesWith(up);
  showKey = rest.at(-1) ?? "";
  system = await composedSystem("docker-compose.yml", await freePort());
  await system.remove();
  await system.shell(makeSecrets);
  await system.shell(up);
});
after(() => system.remove());

// Each test prepares what it needs, so that each also runs alone.
const everyServiceReady = once(async () => {
  for (const service of serviceNames) {
    const message = `${service} is ready`;
    await eventually(() => isReady(service), { ...timeout, message }).catch(async (error: unknown) => {
      throw new Error(await system.logs(service), { cause: error });
    });
  }
});
const administratorKey = once(async () => {
  await everyServiceReady();
  return (await system.shell(showKey)).trim();
});
const administrator = once(async () => createCaller(() => system.baseUrl, await administratorKey()));
/** The administrator under a new name, with a photograph. */
const ada = once(async () => {
  const caller = await administrator();
  const body = JSON.stringify({ display_name: "Ada" });
  const { status, json } = await caller.api("/api/account/", { method: "PATCH", body });
  assert.equal(status, 200, JSON.stringify(json));
  const id = await caller.upload();
  await eventually(() => caller.isRendered(id), timeout);
  return { caller, id };
});

test("the image adds less than 100 MB to Node, with a bill of materials in it", async (t) => {
  const { bytesAboveBase, labels } = await describeImage();
  t.diagnostic(`above the Node base: ${(bytesAboveBase / 1e6).toFixed(1)} MB`);
  assert.ok(bytesAboveBase < 100e6, `${bytesAboveBase} bytes`);
  const { title, version, revision } = Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name.replace("org.opencontainers.image.", ""), value]),
  );
  assert.deepEqual({ title, version, revision }, { title: "Signalbox", version: "0.0.0-test", revision: "containers" });
  const bill = JSON.parse(await system.exec("account", ["cat", "/app/sbom.cdx.json"]));
  assert.equal(bill.bomFormat, "CycloneDX");
  const packages = bill.components.map(({ name }: { name: string }) => name);
  for (const name of ["express", "pg", "kafkajs", "sharp"]) assert.ok(packages.includes(name), name);
  assert.match(await system.exec("account", ["head", "-c", "2000", "/app/LICENSES.md"]), /Elastic-2\.0/);
});

async function isReady(service: string): Promise<true> {
  await system.exec(service, ["infra/docker/healthcheck.sh"]);
  return true;
}

test("a service loads the compiled code of the image", async () => {
  // Until its engines are there a container begins anew, and ends what runs in it.
  await everyServiceReady();
  const loads = "node --eval 'import(process.argv[1]).then(() => process.exit())' /app/services/account/src/service.ts";
  const counts = `NODE_DEBUG_NATIVE=COMPILE_CACHE ${loads} 2>&1 | grep -c " was accepted,"`;
  assert.ok(Number(await system.exec("account", ["sh", "-c", counts])) > 200);
});

test("every service becomes ready on engines that start beside it", () => everyServiceReady());

test("a service runs unprivileged and read-only, within its memory limit", async () => {
  assert.match(await system.exec("account", ["id", "-u"]), /^1000\n$/);
  await assert.rejects(system.exec("account", ["touch", "/app/file"]), /Read-only file system/);
  const limit = "cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes";
  assert.equal(await system.exec("account", ["sh", "-c", limit]), `${384 * 2 ** 20}\n`);
});

test("the job `first-key` gives a key, and a photograph passes through every part", async () => {
  const { caller, id } = await ada();
  const query = "{ viewer { displayName images { edges { node { id status } } } } serverSettings { server { name } } }";
  const { viewer } = (await caller.query(query)) as { viewer: unknown };
  assert.deepEqual(viewer, { displayName: "Ada", images: { edges: [{ node: { id, status: "ready" } }] } });
});

test("metrics are served inside the network only", async () => {
  await everyServiceReady();
  const scrape = "exec 3<>/dev/tcp/images/8081; printf 'GET /management/metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3";
  assert.match(await system.exec("account", ["bash", "-c", scrape]), /http_server_request_duration_seconds/);
  assert.equal((await fetch(`${system.baseUrl}/management/metrics`)).status, 404);
});

const passwordOf = async (name: string) => (await system.shell(`sed -n 's/^${name}_PASSWORD=//p' .env`)).trim();

function sql(who: { user: string; password: string }, database: string, text: string): Promise<string> {
  const psql = ["psql", "-h", "127.0.0.1", "-U", who.user, "-d", database, "-Atc", text];
  return system.exec("postgres", ["env", `PGPASSWORD=${who.password}`, ...psql]);
}

test("a service reads only its own rows: it changes no table, enters no other database", async () => {
  await everyServiceReady();
  const password = await passwordOf("CONFIG_DATABASE");
  const asks = (user: string, database: string, text: string) => sql({ user, password }, database, text);
  assert.match(await asks("signalbox_config", "signalbox_config", "select count(*) from signalbox.outbox"), /^\d+\n$/);
  await assert.rejects(asks("signalbox_config", "signalbox_config", "drop table signalbox.outbox"), /must be owner/);
  await assert.rejects(asks("signalbox_config", "signalbox_account", "select 1"), /does not have CONNECT privilege/);
});

/** Writes to a topic from inside a container, as its service's user, and prints the result. */
const publishes = `
  const { default: kafkajs } = await import("kafkajs");
  const { username, password, host } = new URL(process.env.SIGNALBOX_EVENTS_URL.replace("kafka:", "http:"));
  const isNamed = process.argv[2] === "named";
  const sasl = isNamed ? { sasl: { mechanism: "scram-sha-512", username, password } } : {};
  const retry = { retries: 0 };
  const kafka = new kafkajs.Kafka({ brokers: [host], logLevel: 0, retry, ...sasl });
  const producer = kafka.producer({ retry });
  try {
    await producer.connect();
    await producer.send({ topic: process.argv[1], messages: [{ key: "account:none", value: "{}" }] });
    console.log("written");
  } catch (error) {
    console.log(error.message);
  }
  process.exit(0);
`;
const notAuthorized = /not authorized|authorization failed/i;
const publishing = (service: string, topic: string, name = "named") =>
  system.exec(service, ["node", "--input-type=module", "--eval", publishes, topic, name]);

test("a service writes only its own topics on Kafka, which lets nobody in without a user", async () => {
  await everyServiceReady();
  assert.match(await publishing("image-worker", "signalbox.access.v1"), notAuthorized);
  assert.match(await publishing("gateway", "signalbox.image.v1"), notAuthorized);
  assert.doesNotMatch(await publishing("image-worker", "signalbox.image-rendered.v1", "unnamed"), /written/);
  const output = await system.exec("kafka", ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9094 && echo there"]);
  assert.equal(output, "there\n", "a shell in its container needs no user");
  await assert.rejects(system.exec("account", ["bash", "-c", "exec 3<>/dev/tcp/kafka/9094"]), /refused/);
});

test("the commands of the runbooks answer under an administrator's key", async () => {
  const key = await administratorKey();
  const commands = await runbookCommands("compose", ["operator", "logs", "sql"]);
  // The profile `observe` brings Prometheus, and does not run here.
  for (const command of commands.filter((one) => !one.endsWith(" prometheus"))) {
    // On a busy machine a service may need more than the five seconds that it is given, and is asked again.
    const printed = await eventually(() => system.shell(`KEY=${key}; ${command}`), { ...timeout, message: command });
    if (command.endsWith("groups list")) assert.match(printed, /webhook-delivery\.fan-out/);
  }
});

test("a group is read again under the operator's name, once its instances are stopped", async () => {
  await everyServiceReady();
  const rewind = "docker compose run --rm topics groups rewind images.facts --to end";
  await assert.rejects(system.shell(rewind), /is alive\. Stop every instance/);
});

test("a service that is restarted is found again by the edge", async () => {
  const caller = await administrator();
  await system.restart("images");
  await eventually(async () => (await caller.api("/images")).status === 200, timeout);
});

/** Simulates an older volume: it does not record its users, and a user added since is not among them. */
const asOfAnOlderVersion = `
  kafka-configs.sh --bootstrap-server 127.0.0.1:9094 --entity-type users --entity-name signalbox-gateway \
    --alter --delete-config SCRAM-SHA-512
  rm $KAFKA_LOG_DIRS/signalbox-names`;

test("after `down` and `up` the data are still there, and on volumes of an older version everybody has a name", async () => {
  const { caller } = await ada();
  const administrator = { user: "signalbox", password: await passwordOf("POSTGRES") };
  await sql(administrator, "postgres", "drop role signalbox_exporter");
  await system.exec("kafka", ["bash", "-c", `set -e; PATH=$PATH:/opt/kafka/bin; ${asOfAnOlderVersion}`]);
  await system.down();
  await system.shell(up);
  await eventually(async () => (await caller.api("/api/account/")).json.display_name === "Ada", timeout);
  const { items } = (await eventually(async () => {
    const { status, json } = await caller.api("/images");
    return status === 200 ? json : null;
  }, timeout)) as { items: { status: string }[] };
  assert.deepEqual(
    items.map(({ status }) => status),
    ["ready"],
  );
  const id = await eventually(() => caller.upload(), timeout);
  await eventually(() => caller.isRendered(id), timeout);
  await eventually(() => isReady("gateway"), timeout);
  assert.match(await publishing("gateway", "signalbox.image.v1"), notAuthorized, "it has signed in");
  const exporter = { user: "signalbox_exporter", password: await passwordOf("EXPORTER_DATABASE") };
  assert.equal(await sql(exporter, "postgres", "select 1"), "1\n");
});

test("its figures, for the page about capacity", async (t) => {
  await everyServiceReady();
  const starts: string[] = [];
  for (const service of serviceNames) {
    const { readyMs, processorMs } = await startOf(system.containerOf(service));
    starts.push(`${service} ${readyMs} (${processorMs})`);
  }
  t.diagnostic(`ready, ms from the start of the process (its processor time): ${starts.join(", ")}`);
  const memory = await settledMemory();
  const each = serviceNames.map((name) => `${name} ${inMiB(memory.get(name)?.resident)}`);
  const sum = (kind: "resident" | "share") => [...memory.values()].reduce((all, one) => all + one[kind], 0);
  t.diagnostic(`resident at rest, MiB: ${each.join(", ")}; together ${inMiB(sum("resident"))}`);
  t.diagnostic(`with what they share counted once: ${inMiB(sum("share"))} MiB`);
  assert.ok(sum("share") < 2 * 900 * MiB, "no service holds more than it should by far");
});

const inMiB = (bytes = 0): number => Math.round(bytes / MiB);

/** Waits until the memory of the services no longer shrinks. */
async function settledMemory() {
  for (let before = await memoryOfAll(); ; ) {
    await sleep(betweenSamplesMs);
    const now = await memoryOfAll();
    if (total(now) > 0.98 * total(before)) return now;
    before = now;
  }
}

const betweenSamplesMs = 5_000;
const memoryOfAll = async (): Promise<Map<string, Awaited<ReturnType<typeof memoryOf>>>> =>
  new Map(
    await Promise.all(serviceNames.map(async (name) => [name, await memoryOf(system.containerOf(name))] as const)),
  );
const total = (memory: Awaited<ReturnType<typeof memoryOfAll>>): number =>
  [...memory.values()].reduce((all, { resident }) => all + resident, 0);
