import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { WantedProgram } from "@signalbox/infra/engines/doctor.ts";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { fetchOnce } from "@signalbox/infra/engines/fetch-once.ts";
import { buildGoModule, fetchGoProgram } from "@signalbox/infra/engines/test/go-programs.ts";
import { environment } from "@signalbox/runtime";
import { eventually, freePort } from "@signalbox/testing";

interface ScrapeJob {
  readonly job_name: string;
  readonly static_configs: readonly object[];
}

/** An exporter that runs, and the job that scrapes it. */
export interface StartedExporter {
  readonly job: ScrapeJob;
  close(): Promise<void>;
}

/** The exporter of disks, as the machine has it. */
export const nodeExporter: WantedProgram = {
  names: ["prometheus-node-exporter", "node_exporter"],
  versionArgs: ["--version"],
  usedFor: "disks in incidents",
  packages: { debian: "prometheus-node-exporter", fedora: "node-exporter", macos: "node_exporter" },
};

/** The exporter of Redis, as the machine has it. */
export const redisExporter: WantedProgram = {
  names: ["prometheus-redis-exporter", "redis_exporter"],
  usedFor: "alerts on Redis",
  packages: { debian: "prometheus-redis-exporter", fedora: null, macos: "redis_exporter" },
};

const postgresExporterVersion = "0.17.1";

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
  readonly job: Omit<ScrapeJob, "static_configs"> & { readonly metric_relabel_configs?: readonly object[] };
}

/** Starts an exporter on a port of its own. */
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

/** Starts the exporter of these brokers, built once for a clone. */
export const startKafkaExporter = async (brokers: readonly string[]): Promise<StartedExporter> =>
  startExporter(
    await fetchGoProgram({
      name: "kafka-exporter-1",
      source: join(import.meta.dirname, "kafka-exporter.go"),
      module: "github.com/IBM/sarama@v1.46.3",
    }),
    { args: [`--kafka.server=${brokers.join(",")}`], job: { job_name: "kafka" } },
  );

/** Starts PostgreSQL's exporter in the version of our compose file, built once for a clone. */
export async function startPostgresExporter(url: string): Promise<StartedExporter> {
  const folder = join(enginesFolder, `postgres-exporter-${postgresExporterVersion}`);
  await fetchOnce(folder, (target) =>
    buildGoModule(
      target,
      `github.com/prometheus-community/postgres_exporter@v${postgresExporterVersion}`,
      "./cmd/postgres_exporter",
    ),
  );
  const exported = new URL(url);
  exported.searchParams.set("sslmode", "disable");
  return startExporter(join(folder, "program"), {
    variables: { DATA_SOURCE_NAME: exported.href },
    job: { job_name: "postgres" },
  });
}
