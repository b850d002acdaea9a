import { setTimeout as sleep } from "node:timers/promises";
import { imageVariables, run } from "./podman.ts";

interface LocalEngine {
  readonly image: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
}

/** The engines that the example `local` of the chart expects: under these names, with the passwords in its secrets. */
const engines: Readonly<Record<string, LocalEngine>> = {
  postgres: {
    image: imageVariables.POSTGRES_IMAGE,
    env: { POSTGRES_USER: "signalbox", POSTGRES_PASSWORD: "signalbox" },
  },
  kafka: {
    image: imageVariables.KAFKA_IMAGE,
    env: {
      CLUSTER_ID: "4L6g3nShT-eMCtK--X86sw",
      KAFKA_PROCESS_ROLES: "broker,controller",
      KAFKA_NODE_ID: "1",
      KAFKA_CONTROLLER_QUORUM_VOTERS: "1@127.0.0.1:9093",
      KAFKA_LISTENERS: "PLAINTEXT://:9092,CONTROLLER://127.0.0.1:9093",
      KAFKA_ADVERTISED_LISTENERS: "PLAINTEXT://kafka:9092",
      KAFKA_CONTROLLER_LISTENER_NAMES: "CONTROLLER",
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
      KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: "1000",
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1",
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false",
      KAFKA_LOG_DIRS: "/var/lib/kafka/data",
    },
    volumes: ["/var/lib/kafka/data"],
  },
  redis: {
    image: imageVariables.REDIS_IMAGE,
    command: ["redis-server", "--save", "", "--protected-mode", "no"],
  },
  blobs: {
    image: imageVariables.BLOBS_IMAGE,
    env: { ROOT_ACCESS_KEY: "signalbox", ROOT_SECRET_KEY: "local-blobs-secret" },
    // A folder below /data is a bucket.
    volumes: ["/data/signalbox"],
    command: ["--port", ":7070", "--region", "us-east-1", "posix", "/data"],
  },
};
const databases = ["account", "config", "images", "webhook_delivery", "webhook_ingest"];
const pauseMs = 500;
const attemptsMax = 600;

/** Starts the engines on a network, with empty databases for the services. */
export async function startLocalEngines(network: string): Promise<void> {
  for (const [name, { image, env = {}, volumes = [], command = [] }] of Object.entries(engines)) {
    const place = ["--detach", "--name", `${network}-${name}`, "--network", network, "--network-alias", name];
    const variables = Object.entries(env).flatMap(([variable, value]) => ["--env", `${variable}=${value}`]);
    const mounts = volumes.flatMap((folder) => ["--volume", folder]);
    await run("podman", ["run", ...place, ...variables, ...mounts, image, ...command]);
  }
  const sql = (text: string) =>
    run("podman", ["exec", `${network}-postgres`, "psql", "--host=/tmp", "-U", "signalbox", "-c", text]);
  await attempt("PostgreSQL takes connections", () => sql("select 1"));
  for (const name of databases) await sql(`create database signalbox_${name}`);
}

export async function removeLocalEngines(network: string): Promise<void> {
  const names = Object.keys(engines).map((name) => `${network}-${name}`);
  const remove = ["rm", "--force", "--ignore", "--volumes", "--time", "30", ...names];
  // podman 4 loses track of a container that ends while it is being killed.
  await attempt("the engines are removed", () => run("podman", remove));
}

/** Retries until it succeeds. @throws Error with the last reason when it never does */
export async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return void (await work());
    } catch (error) {
      if (tries === attemptsMax) throw new Error(`failed ${attemptsMax} times: ${what}`, { cause: error });
      await sleep(pauseMs);
    }
  }
}
