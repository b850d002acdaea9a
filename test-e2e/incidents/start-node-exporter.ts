import { spawn } from "node:child_process";
import { once } from "node:events";
import { findProgram } from "@signalbox/infra/engines/find-program.ts";
import { eventually, freePort } from "@signalbox/testing";

/** Starts the exporter of disks, which shows this one disk only. */
export async function startNodeExporter(disk: string): Promise<{ readonly job: object; close(): Promise<void> }> {
  const name = "prometheus-node-exporter";
  await findProgram({ name, versionArgs: ["--version"], install: `apt-get install -y ${name}` });
  const port = await freePort();
  const collect = ["--collector.disable-defaults", "--collector.filesystem"];
  const child = spawn(name, [...collect, `--web.listen-address=127.0.0.1:${port}`], { stdio: "ignore" });
  const exited = once(child, "exit");
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => null))?.ok ?? false;
  await eventually(isReady, { message: `${name} answers` });
  return {
    job: {
      job_name: "node",
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      metric_relabel_configs: [{ source_labels: ["mountpoint"], regex: disk, action: "keep" }],
    },
    close: async () => {
      child.kill();
      await exited;
    },
  };
}
