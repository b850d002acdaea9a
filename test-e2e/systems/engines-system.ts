import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { ServiceName } from "@signalbox/core";
import { startEngine, startProcess, type TestProcess, testDatabase, testRedis, testS3 } from "@signalbox/testing";
import { freePorts } from "./free-ports.ts";
import { startEdge } from "./start-edge.ts";
import type { System, SystemOptions } from "./system.ts";

const services = [
  "account",
  "images",
  "image-worker",
  "config",
  "webhook-ingest",
  "webhook-delivery",
  "gateway",
] as const satisfies readonly ServiceName[];
const root = new URL("../../", import.meta.url);
const path = (relative: string): string => fileURLToPath(new URL(relative, root));

export interface EnginesSystem extends System {
  readonly processes: ReadonlyMap<ServiceName, TestProcess>;
  /** Stops whatever still runs, engines included. */
  close(): Promise<void>;
}

/** Starts one process per service on Kafka, PostgreSQL, Redis and S3, with nginx as the edge. */
export async function startEnginesSystem(options: SystemOptions = {}): Promise<EnginesSystem> {
  const kafka = await startEngine("kafka");
  const closes: (() => Promise<unknown>)[] = [() => kafka.close()];
  const ports = await freePorts(services.flatMap((name) => [`${name} http`, `${name} internal`, `${name} management`]));
  const port = (name: string, listener: string): number => ports.get(`${name} ${listener}`) as number;
  const [redis, s3] = await Promise.all([testRedis(), testS3()]);
  const eventsUrl = `kafka://127.0.0.1:${kafka.port}`;
  const edge = await startEdge(Object.fromEntries(services.map((name) => [name, `127.0.0.1:${port(name, "http")}`])));
  closes.push(() => edge.close());

  const shared: Record<string, string> = {
    "events.url": eventsUrl,
    "cache.url": redis.url,
    "blobs.url": s3.url,
    "blobs.access-key": s3.accessKey,
    "blobs.secret-key": s3.secretKey,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `k1:${randomBytes(32).toString("base64")}`,
    "http.base-url": edge.url,
    "http.strict-responses": "true",
    "http.trusted-proxies": "127.0.0.1",
    "management.endpoints.web.exposure.include": "health,metrics,info,env",
    "log.level": "info",
    ...Object.fromEntries(
      services.map((name) => [`${name}.internal-url`, `http://127.0.0.1:${port(name, "internal")}`]),
    ),
    ...options.properties,
  };
  const databases = await Promise.all(services.map(async (name) => [name, await testDatabase()] as const));
  closes.push(
    ...databases.map(
      ([, database]) =>
        () =>
          database.close(),
    ),
  );
  const databaseUrls = new Map(databases.map(([name, database]) => [name as ServiceName, database.url]));
  // The environment, because values that another service declares are refused on a command line.
  const environmentOf = (name: ServiceName): Record<string, string> =>
    Object.fromEntries(
      Object.entries({
        ...shared,
        "database.url": databaseUrls.get(name) ?? "",
        "http.port": String(port(name, "http")),
        "internal.port": String(port(name, "internal")),
        "management.server.port": String(port(name, "management")),
      }).map(([property, value]) => [`SIGNALBOX_${property.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`, value]),
    );

  await finished(startProcess(path("infra/kafka/topics.ts"), [`--events.url=${eventsUrl}`]));
  const processes = new Map<ServiceName, TestProcess>(
    services.map((name) => [name, startProcess(path(`services/${name}/src/main.ts`), [], environmentOf(name))]),
  );
  closes.unshift(async () => Promise.all([...processes.values()].map((process) => process.kill())));
  await Promise.all([...processes.values()].map((process) => process.waitForOutput(/The service is ready/, 90_000)));
  const apiKey = await finished(
    startProcess(path("services/account/src/first-key-cli.ts"), [], environmentOf("account")),
  );

  const managementUrls = new Map(
    services.map((name) => [name as string, `http://127.0.0.1:${port(name, "management")}`]),
  );
  return {
    processes,
    baseUrl: edge.url,
    managementUrl: managementUrls.get("account") as string,
    managementUrls,
    apiKey,
    eventsUrl,
    async stop() {
      for (const process of processes.values()) process.signal("SIGTERM");
      const ends = [...processes].map(async ([name, process]) => [name, (await process.exited).code] as const);
      return new Map<string, number | null>(await Promise.all(ends));
    },
    async close() {
      for (const close of closes) await close();
    },
  };
}

/** Waits for a command that ends by itself and gives what it printed. */
async function finished(process: TestProcess): Promise<string> {
  const { code } = await process.exited;
  if (code !== 0) throw new Error(`a command ended with ${code}:\n${process.stdout}${process.stderr}`);
  return process.stdout.trim();
}
