import { randomInt } from "node:crypto";
import { mkdir, rmdir, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { enginesFolder } from "./engine-folders.ts";

/** Below the range from which Linux and macOS take ports for outgoing connections, so a restart finds its port free. */
const lowest = 20_000;
const highest = 30_000;
/** Longer than a test file may run: a process that was killed finds its port again, although others look for one meanwhile. */
const reservedMs = 15 * 60_000;

/**
 * Finds a TCP port on 127.0.0.1 on which nothing listens now, and that nobody else in this clone is given for a while:
 * a system of many processes binds its ports only seconds later.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await unusedPort();
    if (await reservePort(port)) return port;
  }
}

/** Finds a TCP port on 127.0.0.1 on which nothing listens now, for a caller that binds it at once. */
export async function unusedPort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free TCP port between ${lowest} and ${highest} on 127.0.0.1`);
}

/** True for one caller in all processes until the time is over: making a folder fails where there is one. */
export async function reservePort(port: number, folder = join(enginesFolder, "ports"), ms = reservedMs) {
  const reservation = join(folder, String(port));
  await mkdir(folder, { recursive: true });
  const last = await stat(reservation).catch(() => null);
  if (last && last.mtimeMs + ms < Date.now()) await rmdir(reservation).catch(() => {});
  return await mkdir(reservation).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", () => settle(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => settle(true)));
  });
}
