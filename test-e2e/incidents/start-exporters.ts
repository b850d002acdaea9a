import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { environment } from "@signalbox/config";
import type { WantedProgram } from "@signalbox/infra/engines/programs.ts";
import { eventually, freePort } from "@signalbox/testing";
import kafkajs from "kafkajs";

/** An exporter that runs, and the job that scrapes it. */
export interface StartedExporter {
  readonly job: object;
  close(): Promise<void>;
}

/** The exporter of disks, as the machine has it. */
export const nodeExporter: WantedProgram = {
  names: ["prometheus-node-exporter", "node_exporter"],
  versionArgs: ["--version"],
  usedFor: "disks in incidents",
  packages: { debian: "prometheus-node-exporter", fedora: "node-exporter", macos: "node_exporter" },
};

/** The exporters of PostgreSQL and Redis, as the machine has them. */
export const engineExporters: readonly WantedProgram[] = [
  {
    names: ["prometheus-postgres-exporter", "postgres_exporter"],
    versionArgs: ["--version"],
    usedFor: "alerts on PostgreSQL",
    packages: { debian: "prometheus-postgres-exporter", fedora: null, macos: "postgres_exporter" },
  },
  {
    names: ["prometheus-redis-exporter", "redis_exporter"],
    usedFor: "alerts on Redis",
    packages: { debian: "prometheus-redis-exporter", fedora: null, macos: "redis_exporter" },
  },
];

/** Starts the exporter of disks under the name that was found; it shows this one disk only. */
export const startNodeExporter = (name: string, disk: string): Promise<StartedExporter> =>
  startExporter(name, {
    args: ["--collector.disable-defaults", "--collector.filesystem"],
    job: {
      job_name: "node",
      metric_relabel_configs: [{ source_labels: ["mountpoint"], regex: disk, action: "keep" }],
    },
  });

interface ExporterOptions {
  readonly args?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** The job without its target. */
  readonly job: object;
}

/** Starts an exporter of the machine on a port of its own. */
export async function startExporter(
  name: string,
  { args = [], variables = {}, job }: ExporterOptions,
): Promise<StartedExporter> {
  const address = `127.0.0.1:${await freePort()}`;
  const env = { ...environment(), ...variables };
  const child = spawn(name, [...args, `--web.listen-address=${address}`], { stdio: "ignore", env });
  const exited = once(child, "exit");
  const isReady = async () => (await fetch(`http://${address}/metrics`).catch(() => null))?.ok ?? false;
  await eventually(isReady, { message: `${name} answers` });
  return {
    job: { ...job, static_configs: [{ targets: [address] }] },
    close: async () => {
      child.kill();
      await exited;
    },
  };
}

/**
 * Stands in for danielqsj/kafka_exporter, which no package source has: what Kafka itself says of its brokers and copies, under
 * the names of that exporter.
 */
export async function startKafkaExporter(brokers: readonly string[]): Promise<StartedExporter> {
  const kafka = new kafkajs.Kafka({ clientId: "exporter", brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const server = createServer(async (_, response) => {
    try {
      response.setHeader("content-type", "text/plain; version=0.0.4").end(await describeCopies(admin));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    job: { job_name: "kafka", static_configs: [{ targets: [`127.0.0.1:${(server.address() as AddressInfo).port}`] }] },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await admin.disconnect();
    },
  };
}

async function describeCopies(admin: kafkajs.Admin): Promise<string> {
  const [{ brokers }, { topics }] = await Promise.all([admin.describeCluster(), admin.fetchTopicMetadata()]);
  const lines = topics.flatMap(({ name, partitions }) =>
    partitions.flatMap(({ partitionId, leader, replicas, isr }) => {
      const labels = `{topic="${name}",partition="${partitionId}"}`;
      const isBehind = isr.length < replicas.length ? 1 : 0;
      return [
        `kafka_topic_partition_leader${labels} ${leader}`,
        `kafka_topic_partition_under_replicated_partition${labels} ${isBehind}`,
      ];
    }),
  );
  return [`kafka_brokers ${brokers.length}`, ...lines, ""].join("\n");
}
