import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import { answersHttp } from "./exchange.ts";
import { findProgram } from "./find-program.ts";
import { startDetached } from "./processes.ts";

const install = "apt-get install -y prometheus";

/**
 * Prometheus from the system's packages, and promtool beside it. It scrapes what `prometheus.yml` in its folder says, which
 * the caller writes beforehand; so it is never one of the shared engines.
 */
export const prometheus: Engine = {
  name: "prometheus",
  stopSignal: "SIGTERM",

  async fetch() {
    await findProgram({ name: "promtool", versionArgs: ["--version"], install });
    return await findProgram({ name: "prometheus", versionArgs: ["--version"], install });
  },

  async start({ folder, port }) {
    const configuration = join(folder, "prometheus.yml");
    if (!existsSync(configuration) || port === undefined) {
      throw new Error(`prometheus needs ${configuration} and the port on which it shall listen`);
    }
    const args = [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--enable-feature=exemplar-storage",
    ];
    const logFile = join(folder, "prometheus.log");
    const handle = await startDetached({ command: "prometheus", args, logFile, folder }, () =>
      prometheus.answers(port),
    );
    return { name: "prometheus", url: `http://127.0.0.1:${port}`, port, ...handle, folder, details: {} };
  },

  answers: (port) => answersHttp(port, "/-/ready", "HTTP/1.1 200"),
};
