import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { minutes } from "@signalbox/core";
import type { Engine, EnginePlace, KafkaMember, RunningEngine } from "../engine.ts";
import { exchange } from "../exchange.ts";
import { fetchOnce } from "../fetch-once.ts";
import { findProgram } from "../find-program.ts";
import { freePort } from "../free-port.ts";
import { startDetached, stopProcess } from "../processes.ts";
import {
  archiveClassesIn,
  archivedClasses,
  classArchiveFolder,
  findJava,
  javaArguments,
  kafkaJars,
  kafkaVersion,
  runKafkaTool,
} from "./java.ts";
import { serverProperties } from "./server-properties.ts";

const run = promisify(execFile);

/** Apache Kafka in KRaft mode, a single broker or a member of several: jars from Maven Central, run by the machine's JDK. */
export const kafka: Engine = {
  name: "kafka",
  stopSignal: "SIGTERM",

  async fetch() {
    await findJava();
    await fetchOnce(kafkaJars, fetchJars);
    await fetchOnce(classArchiveFolder, archiveClasses);
    return `Apache Kafka ${kafkaVersion}`;
  },

  start: (place) => startBroker(place, archivedClasses()),

  /** Asks for the supported API versions (request 18, version 0), the first question of every client. */
  async answers(port) {
    const correlation = 7;
    const request = Buffer.alloc(14);
    request.writeInt32BE(10, 0);
    request.writeInt16BE(18, 4);
    request.writeInt32BE(correlation, 8);
    request.writeInt16BE(-1, 12);
    const answer = await exchange(port, request);
    return (
      answer !== null && answer.length >= 10 && answer.readInt32BE(4) === correlation && answer.readInt16BE(8) === 0
    );
  },
};

async function startBroker(place: EnginePlace, classes: string[]): Promise<RunningEngine> {
  const { folder, port: wanted, advertisedPort, configure = (properties) => properties } = place;
  const dataFolder = join(folder, "data");
  const configuration = join(folder, "server.properties");
  await mkdir(folder, { recursive: true });
  const port = wanted ?? (await freePort());
  const member = place.member ?? (await alone(configuration));
  await writeFile(
    configuration,
    configure(serverProperties({ port, advertisedPort: advertisedPort ?? port, member, dataFolder })),
  );
  if (!existsSync(join(dataFolder, "meta.properties"))) await format(configuration, member.clusterId);
  const handle = await startDetached(
    {
      command: "java",
      args: javaArguments(["-Xms256m", "-Xmx512m", "kafka.Kafka", configuration], classes),
      logFile: join(folder, "kafka.log"),
      folder,
    },
    () => kafka.answers(port),
  );
  return { name: "kafka", url: `kafka://127.0.0.1:${port}`, port, ...handle, folder, details: {} };
}

async function fetchJars(folder: string): Promise<void> {
  await findProgram({ name: "mvn", versionArgs: ["--version"], install: "apt-get install -y maven" });
  const pom = join(import.meta.dirname, "pom.xml");
  const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${folder}`, "-DincludeScope=runtime"];
  await run("mvn", ["-q", "-B", "-f", pom, ...goal]);
}

/** Lets a broker start and stop once, so that every later one finds its classes ready. */
async function archiveClasses(folder: string): Promise<void> {
  const brokerFolder = join(folder, "broker");
  const broker = await startBroker({ folder: brokerFolder }, archiveClassesIn(folder));
  await stopProcess(broker, "SIGTERM", minutes(1));
  await rm(brokerFolder, { recursive: true });
}

async function format(configuration: string, clusterId: string): Promise<void> {
  await runKafkaTool(["kafka.tools.StorageTool", "format", "-t", clusterId, "-c", configuration]);
}

/** The id of a new cluster. The tool that formats the data takes one that begins with a hyphen for an option. */
export const newClusterId = (): string => randomBytes(16).toString("base64url").replace(/^-/, "A");

async function alone(configuration: string): Promise<KafkaMember> {
  const known = existsSync(configuration) ? await controllerPortIn(configuration) : undefined;
  return { id: 1, clusterId: newClusterId(), controllerPorts: [known ?? (await freePort())], copies: 1 };
}

/** The data folder remembers its controller by address, so a restart keeps the port. */
async function controllerPortIn(configuration: string): Promise<number | undefined> {
  const text = await readFile(configuration, "utf8");
  const port = /^controller\.quorum\.voters=.*:(\d+)$/m.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
}
