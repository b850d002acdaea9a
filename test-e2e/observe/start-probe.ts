import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { findProgram } from "@signalbox/infra/engines/doctor.ts";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { eventually, freePort } from "@signalbox/testing";

export interface RunningProbe {
  /** Scrapes the probes of the targets, under the name that the alerts know. */
  readonly job: object;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts the blackbox exporter with the deployed module. */
export async function startProbe(targets: readonly string[]): Promise<RunningProbe> {
  const port = await freePort();
  const command = (await findProgram("blackbox_exporter")).command;
  const config = join(repositoryFolder, "infra/observe/blackbox/blackbox.yml");
  const child = spawn(command, [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/-/healthy`).catch(() => null))?.ok ?? false;
  await eventually(isReady, { message: `${command} answers` });
  return {
    pid: child.pid as number,
    job: {
      job_name: "probe",
      metrics_path: "/probe",
      params: { module: ["edge"] },
      static_configs: [{ targets }],
      relabel_configs: [
        { source_labels: ["__address__"], target_label: "__param_target" },
        { source_labels: ["__param_target"], target_label: "instance" },
        { target_label: "__address__", replacement: `127.0.0.1:${port}` },
      ],
    },
    close: async () => {
      child.kill();
      await exited;
    },
  };
}
