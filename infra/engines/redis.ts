import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import { exchange } from "./exchange.ts";
import { findProgram } from "./find-program.ts";
import { freePort } from "./free-port.ts";
import { startDetached } from "./processes.ts";

/** Enough for every test file of a run to have one of its own. */
const databases = 4096;

/** Redis from the system's packages, without persistence: nothing correct rests on it. */
export const redis: Engine = {
  name: "redis",
  stopSignal: "SIGTERM",

  fetch: () =>
    findProgram({ name: "redis-server", versionArgs: ["--version"], install: "apt-get install -y redis-server" }),

  async start({ folder, port: wanted }) {
    await mkdir(folder, { recursive: true });
    const port = wanted ?? (await freePort());
    const settings = { port, bind: "127.0.0.1", databases, dir: folder, save: "", appendonly: "no" };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const logFile = join(folder, "redis.log");
    const handle = await startDetached({ command: "redis-server", args, logFile, folder }, () => redis.answers(port));
    return { name: "redis", url: `redis://127.0.0.1:${port}`, port, ...handle, folder, details: {} };
  },

  async answers(port) {
    const answer = await exchange(port, "PING\r\n");
    return answer?.toString().startsWith("+PONG") ?? false;
  },
};
