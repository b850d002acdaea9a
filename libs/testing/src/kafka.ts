import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@signalbox/infra/engines/free-port.ts";
import { newClusterId } from "@signalbox/infra/engines/kafka/kafka.ts";
import { createCertificates } from "./create-certificates.ts";
import { type OwnEngine, startEngine } from "./start-engine.ts";
import { endpointOf } from "./test-engines.ts";

export interface TestKafka {
  /** Value of `events.url`: `kafka://host:port`. */
  readonly url: string;
  readonly brokers: readonly string[];
  /** A topic name that no other test uses. */
  topic(name: string): string;
  /** A consumer group that no other test uses. */
  group(name: string): string;
}

/** Attaches to the shared Apache Kafka. Topics must be created: the broker refuses unknown ones. */
export async function testKafka(): Promise<TestKafka> {
  const { url } = await endpointOf("kafka");
  const id = randomBytes(6).toString("hex");
  return {
    url,
    brokers: url.replace(/^kafka:\/\//, "").split(","),
    topic: (name) => `test-${id}.${name}`,
    group: (name) => `test-${id}.${name}`,
  };
}

export interface KafkaCluster {
  /** Value of `events.url`, with every broker. */
  readonly url: string;
  /** In the order of their ids, which count from 1. */
  readonly brokers: readonly OwnEngine[];
  close(): Promise<void>;
}

interface ClusterOptions {
  readonly brokers?: number;
  /** Number of replicas of each partition. With 1, a broker that dies takes its partitions with it. */
  readonly copies: number;
}

/** Starts several brokers for this test alone, which share the role of the controller: one of three may be down. */
export async function startKafkaCluster({ brokers: count = 3, copies }: ClusterOptions): Promise<KafkaCluster> {
  const clusterId = newClusterId();
  const controllerPorts = await Promise.all(Array.from({ length: count }, freePort));
  const brokers = await Promise.all(
    controllerPorts.map((_, at) =>
      startEngine("kafka", { member: { id: at + 1, clusterId, controllerPorts, copies } }),
    ),
  );
  return {
    url: `kafka://${brokers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    brokers,
    close: async () => void (await Promise.all(brokers.map((broker) => broker.close()))),
  };
}

/** A broker over TLS that authenticates users by password and enforces their rights. */
export interface GuardedKafka {
  /** Address for administrators: without authentication, with every right. */
  readonly url: string;
  readonly port: number;
  readonly caFile: string;
  /** Value of `events.url` for one of the users. */
  urlOf(user: string): string;
  close(): Promise<void>;
}

/** Starts the broker with these users, who have no rights yet. */
export async function startGuardedKafka(users: readonly string[]): Promise<GuardedKafka> {
  const certificates = await createCertificates();
  const port = await freePort();
  const keys = join(certificates.folder, "broker.pem");
  const parts = [certificates.keyFile, certificates.certFile].map((file) => readFile(file, "utf8"));
  await writeFile(keys, (await Promise.all(parts)).join(""));
  const engine = await startEngine("kafka", { configure: (properties) => guarded(properties, { port, keys, users }) });
  return {
    url: engine.url,
    port,
    caFile: certificates.caFile,
    urlOf: (user) =>
      `kafka://${user}:${passwordOf(user)}@localhost:${port}?${new URLSearchParams({ tls: "true", ca: certificates.caFile, sasl: "plain" })}`,
    async close() {
      await engine.close();
      await certificates.remove();
    },
  };

  function guarded(properties: string, listener: Listener): string {
    return [withListener(properties, listener), `ssl.truststore.location=${certificates.caFile}`, ""].join("\n");
  }
}

const passwordOf = (user: string): string => `password-of-${user}`;

interface Listener {
  readonly port: number;
  readonly keys: string;
  readonly users: readonly string[];
}

function withListener(properties: string, { port, keys, users }: Listener): string {
  const logins = users.map((user) => `user_${user}="${passwordOf(user)}"`).join(" ");
  return [
    properties
      .replace(/^listeners=.*$/m, `$&,GUARDED://127.0.0.1:${port}`)
      .replace(/^advertised\.listeners=.*$/m, `$&,GUARDED://localhost:${port}`)
      .replace(/^listener\.security\.protocol\.map=.*$/m, "$&,GUARDED:SASL_SSL"),
    "ssl.keystore.type=PEM",
    `ssl.keystore.location=${keys}`,
    "ssl.truststore.type=PEM",
    "listener.name.guarded.sasl.enabled.mechanisms=PLAIN",
    `listener.name.guarded.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ${logins};`,
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
    "allow.everyone.if.no.acl.found=false",
  ].join("\n");
}
