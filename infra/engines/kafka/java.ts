import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EngineAbsentError } from "../engine.ts";
import { enginesFolder } from "../engine-folders.ts";
import { findProgram } from "../find-program.ts";

const run = promisify(execFile);

export const kafkaVersion = "4.3.1";
const oldestJava = 17;
export const kafkaJars = join(enginesFolder, `kafka-${kafkaVersion}`);
/** Has the classes of a broker as the JVM keeps them in memory. Not in the folder of the jars: the archive knows where they lie. */
export const classArchiveFolder = `${kafkaJars}-classes`;
const archiveName = "kafka.jsa";
const classArchive = join(classArchiveFolder, archiveName);

/**
 * A broker of a test lives for seconds. With its classes from an archive, and compiled once, it starts with a third of the
 * processor time; the serial collector keeps its threads off the two cores the tests run on.
 */
const quickStart = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** The option that reads the classes from the archive. A JVM that the archive does not fit goes on without it. */
export const archivedClasses = () => (existsSync(classArchive) ? [`-XX:SharedArchiveFile=${classArchive}`] : []);

/** The option that writes the classes a program used to an archive in `folder` when it ends (JEP 350). */
export const archiveClassesIn = (folder: string) => [`-XX:ArchiveClassesAtExit=${join(folder, archiveName)}`];

/** The arguments of `java` for a program of Kafka: options of the JVM, its main class, and what that takes. */
export function javaArguments(program: readonly string[], classes = archivedClasses()): string[] {
  return [...quickStart, ...classes, "-cp", join(kafkaJars, "*"), ...program];
}

/** Runs a program of Kafka to its end. */
export async function runKafkaTool(program: readonly string[]): Promise<void> {
  await run("java", javaArguments(program));
}

let foundJava: Promise<void> | undefined;

/** Throws `EngineAbsentError` unless the machine has a Java that Kafka runs on. Asked once a process. */
export function findJava(): Promise<void> {
  foundJava ??= checkJava();
  return foundJava;
}

async function checkJava(): Promise<void> {
  const install = `apt-get install -y openjdk-${oldestJava}-jre-headless`;
  const found = await findProgram({ name: "java", versionArgs: ["-version"], install });
  const major = Number(/version "(\d+)/.exec(found)?.[1]);
  if (!(major >= oldestJava)) {
    throw new EngineAbsentError(`Kafka ${kafkaVersion} needs Java ${oldestJava} or newer, found ${major}: ${install}`);
  }
}
