import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schemathesis } from "@signalbox/infra/engines/test/python-programs.ts";
import { environment } from "@signalbox/runtime";

const configuration = join(import.meta.dirname, "schemathesis.toml");

/**
 * Runs `schemathesis <args>` with our configuration, in which `variables` stand for what only a run knows. Answers with
 * its report and whether it found nothing.
 */
export async function runSchemathesis(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<{ readonly passed: boolean; readonly report: string }> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-schemathesis-"));
  try {
    const all = ["-m", "schemathesis.cli", "--config-file", configuration, ...args, "--no-color"];
    const child = spawn(schemathesis.python, all, {
      cwd: folder,
      env: { ...environment(), ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let report = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        report += text;
      });
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { passed: code === 0, report };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** For a graph: the one check is that its errors have these codes. */
export const graphqlCheck = (codes: readonly string[]) => ({
  args: ["--checks", "only_declared_codes"],
  variables: { SCHEMATHESIS_HOOKS: "graphql_codes", PYTHONPATH: import.meta.dirname, GRAPHQL_CODES: codes.join() },
});
