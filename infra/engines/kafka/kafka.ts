import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { minutes } from "@signalbox/core";
import { findProgram } from "../doctor.ts";
import { readIfThere } from "../durable-file.ts";
import type { Engine, EnginePlace, KafkaMember, RunningEngine } from "../engine.ts";
import { enginesFolder } from "../engine-folders.ts";
import { exchange } from "../exchange.ts";
import { fetchOnce } from "../fetch-once.ts";
import { freePort } from "../free-port.ts";
import { run, startDetached, stopProcess } from "../processes.ts";

/** Apache Kafka in KRaft mode, a single broker or a member of several: jars from Maven Central, run by the machine's JDK. */
export const kafka: Engine = {
  name: "kafka",
  stopSignal: "SIGTERM",

  async fetch() {
    foundJava ??= findProgram("java");
    await foundJava;
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
  await writeFile(configuration, configure(serverProperties(member, dataFolder, port, advertisedPort)));
  if (!existsSync(join(dataFolder, "meta.properties")))
    await runKafkaTool(["kafka.tools.StorageTool", "format", "-t", member.clusterId, "-c", configuration]);
  const args = javaArguments(["-Xms256m", "-Xmx512m", "kafka.Kafka", configuration], classes);
  const logFile = join(folder, "kafka.log");
  const handle = await startDetached({ command: "java", args, logFile, folder }, () => kafka.answers(port));
  return { name: "kafka", url: `kafka://127.0.0.1:${port}`, port, ...handle, folder, details: {} };
}

async function fetchJars(folder: string): Promise<void> {
  await findProgram("mvn");
  const pom = join(import.meta.dirname, "pom.xml");
  const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${folder}`, "-DincludeScope=runtime"];
  await run("mvn", ["-q", "-B", "-f", pom, ...goal]);
}

/** Lets a broker start and stop once, so that every later one finds its classes ready. */
async function archiveClasses(folder: string): Promise<void> {
  const brokerFolder = join(folder, "broker");
  // Written when the program ends (JEP 350).
  const broker = await startBroker({ folder: brokerFolder }, [`-XX:ArchiveClassesAtExit=${join(folder, archiveName)}`]);
  await stopProcess(broker, "SIGTERM", minutes(1));
  await rm(brokerFolder, { recursive: true });
}

/** The id of a new cluster. The tool that formats the data takes one that begins with a hyphen for an option. */
export const newClusterId = (): string => randomBytes(16).toString("base64url").replace(/^-/, "A");

/** A broker that stands alone. Its data folder remembers the controller by address, so a restart keeps the port. */
async function alone(configuration: string): Promise<KafkaMember> {
  const text = String((await readIfThere(configuration)) ?? "");
  const [, known] = /^controller\.quorum\.voters=.*:(\d+)$/m.exec(text) ?? [];
  return { id: 1, clusterId: newClusterId(), controllerPorts: [Number(known ?? (await freePort()))], copies: 1 };
}

const kafkaVersion = "4.3.1";
const kafkaJars = join(enginesFolder, `kafka-${kafkaVersion}`);
/** Has the classes of a broker as the JVM keeps them in memory. Not in the folder of the jars: the archive knows where they lie. */
const classArchiveFolder = `${kafkaJars}-classes`;
const archiveName = "kafka.jsa";
const classArchive = join(classArchiveFolder, archiveName);

/**
 * A broker of a test lives for seconds. With its classes from an archive, and compiled once, it starts with a third of the
 * processor time; the serial collector keeps its threads off the two cores the tests run on.
 */
const quickStart = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** The option that reads the classes from the archive. A JVM that the archive does not fit goes on without it. */
const archivedClasses = () => (existsSync(classArchive) ? [`-XX:SharedArchiveFile=${classArchive}`] : []);

/** The arguments of `java` for a program of Kafka: options of the JVM, its main class, and what that takes. */
function javaArguments(program: readonly string[], classes = archivedClasses()): string[] {
  return [...quickStart, ...classes, "-cp", join(kafkaJars, "*"), ...program];
}

/** Runs a program of Kafka to its end. */
export async function runKafkaTool(program: readonly string[]): Promise<void> {
  await run("java", javaArguments(program));
}

/** Asked once a process. */
let foundJava: ReturnType<typeof findProgram> | undefined;

/** The configuration of a node that is broker and controller, in the `server.properties` format. */
function serverProperties(
  { id, controllerPorts, copies }: KafkaMember,
  dataFolder: string,
  port: number,
  advertisedPort = port,
): string {
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
