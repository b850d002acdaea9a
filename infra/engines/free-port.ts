import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range from which Linux and macOS take ports for outgoing connections, so a restart finds its port free. */
const lowest = 20_000;
const highest = 30_000;

/** Finds a TCP port on 127.0.0.1 on which nothing listens now. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free TCP port between ${lowest} and ${highest} on 127.0.0.1`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", () => settle(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => settle(true)));
  });
}
