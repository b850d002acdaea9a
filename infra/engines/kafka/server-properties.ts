import type { KafkaMember } from "../engine.ts";

interface Broker {
  readonly port: number;
  readonly advertisedPort: number;
  readonly member: KafkaMember;
  readonly dataFolder: string;
}

/** The configuration of a node that is broker and controller, in the `server.properties` format. */
export function serverProperties({ port, advertisedPort, member, dataFolder }: Broker): string {
  const { id, controllerPorts, copies } = member;
  const properties: Record<string, string | number | boolean> = {
    "process.roles": "broker,controller",
    "node.id": id,
    "controller.quorum.voters": controllerPorts.map((one, at) => `${at + 1}@127.0.0.1:${one}`).join(),
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPorts[id - 1]}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${advertisedPort}`,
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "log.dirs": dataFolder,
    "default.replication.factor": copies,
    "min.insync.replicas": copies > 2 ? 2 : 1,
    "offsets.topic.replication.factor": controllerPorts.length,
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    // A killed broker is let in again only after its session; with the usual 9 s each restart in a test would take that.
    "broker.session.timeout.ms": 4_000,
    "broker.heartbeat.interval.ms": 500,
    // Lets the members of a test's group ask for a session of a second; Kafka's own bound is six.
    "group.min.session.timeout.ms": 1_000,
    // A test's group starts with its only member; waiting for others would cost 3 s each time.
    "group.initial.rebalance.delay.ms": 0,
    // Topics come from the catalogue: a topic that appears by itself would hide a missing declaration.
    "auto.create.topics.enable": false,
    "log.cleaner.dedupe.buffer.size": 2_097_152,
    "controlled.shutdown.enable": false,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
