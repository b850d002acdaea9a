import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Engine, engineNamed, enginesFolder, freePort, startOwnEngine } from "@signalbox/infra/engines/index.ts";
import { startDetached } from "@signalbox/infra/engines/processes.ts";
import { createTcpProxy, type TcpProxy } from "@signalbox/testing";
import type { KafkaCluster } from "./ledger-system.ts";

const run = promisify(execFile);
const nodes = [1, 2, 3];
const memory = ["-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const clusterId = "bGVkZ2VyLWxlZGdlci1sZQ";

/** The ports of a broker: for callers, for callers behind its proxy, and for the other controllers. */
interface Ports {
  readonly direct: number;
  readonly proxied: number;
  readonly controller: number;
}

export interface LedgerKafka extends KafkaCluster {
  readonly url: string;
  /** The same brokers through proxies, one for each. */
  readonly proxiedUrl: string;
  readonly addresses: readonly string[];
  readonly proxies: readonly TcpProxy[];
  close(): Promise<void>;
}

/** Three nodes, each broker and controller, that keep three copies and want two. */
export async function startKafkaCluster(): Promise<LedgerKafka> {
  await using opened = new AsyncDisposableStack();
  await engineNamed("kafka").fetch();
  const ports = await Promise.all(
    nodes.map(async (): Promise<Ports> => {
      const [direct = 0, proxied = 0, controller = 0] = await Promise.all([freePort(), freePort(), freePort()]);
      return { direct, proxied, controller };
    }),
  );
  const proxies = await Promise.all(ports.map(({ proxied }) => createTcpProxy({ port: proxied })));
  for (const proxy of proxies) opened.defer(() => proxy.close());
  // Together: none of them serves before two of them can elect a controller.
  const started = await Promise.all(
    nodes.map((node, index) => {
      const engine = brokerOf(node, ports, proxies[index]?.port as number);
      return startOwnEngine(engine, { port: ports[index]?.direct as number });
    }),
  );
  for (const broker of started) opened.defer(() => broker.close());
  const addresses = ports.map(({ direct }) => `127.0.0.1:${direct}`);
  const closes = opened.move();
  return {
    url: `kafka://${addresses.join(",")}`,
    proxiedUrl: `kafka://${proxies.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    addresses,
    proxies,
    brokers: started,
    controller: () => leaderAmong(started),
    close: () => closes.disposeAsync(),
  };
}

function brokerOf(node: number, ports: readonly Ports[], advertisedPort: number): Engine {
  const engine = engineNamed("kafka");
  return {
    ...engine,
    async start({ folder }) {
      const dataFolder = join(folder, "data");
      const configuration = join(folder, "server.properties");
      const classPath = await jars();
      await mkdir(folder, { recursive: true });
      await writeFile(configuration, propertiesOf(node, ports, advertisedPort, dataFolder));
      if (!existsSync(join(dataFolder, "meta.properties"))) {
        const format = ["kafka.tools.StorageTool", "format", "-t", clusterId, "-c", configuration];
        await run("java", ["-cp", classPath, ...format]);
      }
      const { direct } = ports[node - 1] as Ports;
      const args = [...memory, "-cp", classPath, "kafka.Kafka", configuration];
      const program = { command: "java", args, logFile: join(folder, "kafka.log"), folder };
      const handle = await startDetached(program, () => engine.answers(direct));
      return { name: "kafka", url: `kafka://127.0.0.1:${direct}`, port: direct, ...handle, folder, details: {} };
    },
  };
}

/** The jars that the shared broker is run from. */
async function jars(): Promise<string> {
  const folder = (await readdir(enginesFolder))
    .filter((name) => /^kafka-[\d.]+$/.test(name))
    .sort()
    .at(-1);
  return join(enginesFolder, folder ?? "kafka", "*");
}

function propertiesOf(node: number, ports: readonly Ports[], advertisedPort: number, dataFolder: string): string {
  const { direct, proxied, controller } = ports[node - 1] as Ports;
  const voters = ports.map((one, index) => `${index + 1}@127.0.0.1:${one.controller}`);
  const properties = {
    "process.roles": "broker,controller",
    "node.id": node,
    "controller.quorum.voters": voters.join(","),
    listeners: `PLAINTEXT://127.0.0.1:${direct},PROXIED://127.0.0.1:${proxied},CONTROLLER://127.0.0.1:${controller}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${direct},PROXIED://127.0.0.1:${advertisedPort}`,
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT",
    "log.dirs": dataFolder,
    "default.replication.factor": 3,
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": 3,
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    "share.coordinator.state.topic.replication.factor": 3,
    "share.coordinator.state.topic.min.isr": 2,
    // As for the single broker of the tests: a killed one is let in again only after its session.
    "broker.session.timeout.ms": 4_000,
    "broker.heartbeat.interval.ms": 500,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": false,
    "log.cleaner.dedupe.buffer.size": 2_097_152,
    "controlled.shutdown.enable": false,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/** Brokers name any of them as the controller; what the quorum knows lies in the folder of each. */
async function leaderAmong(brokers: readonly { readonly folder: string }[]): Promise<number> {
  const states = await Promise.all(
    brokers.map(async ({ folder }) => {
      const text = await readFile(join(folder, "data", "__cluster_metadata-0", "quorum-state"), "utf8");
      return JSON.parse(text) as { leaderId: number; leaderEpoch: number };
    }),
  );
  const newest = states.reduce((one, other) => (other.leaderEpoch > one.leaderEpoch ? other : one));
  if (!nodes.includes(newest.leaderId)) throw new Error(`no controller in ${JSON.stringify(states)}`);
  return newest.leaderId - 1;
}
