import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readIfThere } from "../durable-file.ts";
import { exchange } from "../exchange.ts";
import { type ProcessHandle, processCommand, processIdentity } from "../processes.ts";

export interface Postmaster extends ProcessHandle {
  readonly port: number;
  /** The folder of its Unix socket; null when it takes TCP alone. */
  readonly socketFolder: string | null;
}

/**
 * Finds the server that runs on this data folder, as its `postmaster.pid` says, and waits until one that is starting or
 * stopping has made up its mind. A file left by a killed server is removed when its pid belongs to something else now:
 * PostgreSQL itself would take that process for a running server and refuse to start. So is one that stays empty, the
 * trace of a server that was killed while it wrote it.
 */
export async function findPostmaster(data: string): Promise<Postmaster | null> {
  const giveUpAt = performance.now() + 30_000;
  const emptyUntil = performance.now() + 1_000; // a living server has its pid in the file within a few ms
  for (;;) {
    const file = await readPostmasterFile(data);
    if (!file) return null;
    if (file.pid === 0 && performance.now() < emptyUntil) {
      await sleep(50);
      continue;
    }
    const identity = file.pid > 0 ? await processIdentity(file.pid) : null;
    if (!identity || !(await processCommand(file.pid)).includes("postgres")) {
      await rm(join(data, "postmaster.pid"), { force: true });
      return null;
    }
    if (file.status === "ready" && (await postgresAnswers(file.port))) {
      return { pid: file.pid, identity, port: file.port, socketFolder: file.socketFolder };
    }
    if (performance.now() > giveUpAt) {
      throw new Error(`the PostgreSQL with pid ${file.pid} on ${data} is "${file.status}" and does not answer`);
    }
    await sleep(50);
  }
}

/** Returns true when the server on this data folder takes connections. */
export async function isReady(data: string): Promise<boolean> {
  const file = await readPostmasterFile(data);
  return file?.status === "ready" && (await postgresAnswers(file.port));
}

interface PostmasterFile extends Omit<Postmaster, "identity"> {
  readonly status: string;
}

/** The lines of `postmaster.pid`: pid (0 when there is none yet), data folder, start time, port, socket folder, address, shared memory, status. */
async function readPostmasterFile(data: string): Promise<PostmasterFile | null> {
  const text = await readIfThere(join(data, "postmaster.pid"));
  if (text === null) return null;
  const lines = text.toString().split("\n");
  return {
    pid: Number(lines[0]) || 0,
    port: Number(lines[3]),
    socketFolder: lines[4]?.trim() || null,
    status: lines[7]?.trim() ?? "starting",
  };
}

/** Sends an SSLRequest (protocol documentation, "Message Formats"); a server answers one byte, `S` or `N`. */
export async function postgresAnswers(port: number): Promise<boolean> {
  const request = Buffer.alloc(8);
  request.writeInt32BE(8, 0);
  request.writeInt32BE(80_877_103, 4);
  const answer = await exchange(port, request);
  return answer !== null && (answer[0] === 0x4e || answer[0] === 0x53);
}
