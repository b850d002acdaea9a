import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import { answersHttp } from "./exchange.ts";
import { findProgram } from "./find-program.ts";
import { startDetached } from "./processes.ts";

/**
 * nginx from the system's packages. It serves what `nginx.conf` in its folder says, which the caller writes beforehand,
 * with `daemon off` and a listener on the given port; so it is never one of the shared engines.
 */
export const nginx: Engine = {
  name: "nginx",
  stopSignal: "SIGQUIT",

  fetch: () => findProgram({ name: "nginx", versionArgs: ["-v"], install: "apt-get install -y nginx" }),

  async start({ folder, port }) {
    const configuration = join(folder, "nginx.conf");
    if (!existsSync(configuration) || port === undefined) {
      throw new Error(`nginx needs ${configuration} and the port on which that file makes it listen`);
    }
    await mkdir(join(folder, "temporary"), { recursive: true });
    const logFile = join(folder, "nginx.log");
    const args = ["-p", folder, "-c", configuration, "-e", logFile];
    const handle = await startDetached({ command: "nginx", args, logFile, folder }, () => nginx.answers(port));
    return { name: "nginx", url: `http://127.0.0.1:${port}`, port, ...handle, folder, details: {} };
  },

  answers: (port) => answersHttp(port),
};
