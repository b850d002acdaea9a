import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { enginesFolder } from "../../engines/engine-folders.ts";
import { run } from "../../engines/processes.ts";
import { fetchPythonEnvironment, pythonOf } from "../../engines/test/python-programs.ts";

/** Changes with the version of the analyzer. */
const folder = join(enginesFolder, "network-config-analyzer-2.1.0");
const source = join(import.meta.dirname, "reachability");
const bytesMax = 64 * 1024 * 1024;

/** A connection that policies allow: two pods by namespace and name, or addresses; protocols and ports as the analyzer writes them. */
export interface Way {
  readonly from: string;
  readonly to: string;
  readonly protocols: string;
  readonly ports: string;
}

/** Installs the analyzer of network policies. */
export const fetchReachability = (): Promise<void> => fetchPythonEnvironment(folder, join(source, "requirements.txt"));

/** Computes every connection between the pods of manifests, and with addresses outside, that their policies allow. */
export async function reachability(manifests: readonly object[]): Promise<Way[]> {
  const scratch = await mkdtemp(join(tmpdir(), "signalbox-reachability-"));
  try {
    const file = join(scratch, "manifests.yaml");
    await writeFile(file, manifests.map((manifest) => `---\n${stringify(manifest)}`).join(""));
    const { stdout } = await run(pythonOf(folder), [join(source, "reachability.py"), file], { maxBuffer: bytesMax });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as [string, string, string, string])
      .map(([from, to, protocols, ports]) => ({ from, to, protocols, ports }));
  } finally {
    await rm(scratch, { recursive: true });
  }
}
