import { spawn } from "node:child_process";
import { once } from "node:events";
import { plainLicences } from "../docker/licence-page.ts";
import { root } from "../generate/repository.ts";
import { folders } from "./tests/tiers.ts";

/** Ask for more than attribution: NOTICE names the packages that have them. */
const namedLicences = ["Elastic-2.0", "LGPL-3.0-or-later", "LGPL-3.0", "EPL-2.0", "MPL-2.0"];

/**
 * The checks of `npm run check`, each a script with its arguments; the longest first, so that the others run beside it. One job for each linter: Biome
 * formats and lints rules without types, oxlint finds unawaited promises (Biome misses those of `node:` modules and
 * packages), dependency-cruiser checks the boundaries (it needs the API of TypeScript 6).
 */
const checks: Readonly<Record<string, readonly string[]>> = {
  types: ["infra/tasks/check-types.ts"],
  "dead code": ["node_modules/knip/bin/knip.js", "--no-progress", "--no-config-hints"],
  "format and lint": ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
  "generated files": ["infra/generate/run.ts", "--check"],
  boundaries: ["node_modules/dependency-cruiser/bin/dependency-cruiser.mjs", "--output-type", "err", ...folders],
  "lock file": [
    "node_modules/lockfile-lint/bin/lockfile-lint.js",
    ...["--path=package-lock.json", "--allowed-hosts=npm"],
    ...["--validate-https", "--validate-integrity", "--validate-package-names"],
  ],
  licences: [
    "node_modules/license-checker-rseidelsohn/bin/license-checker-rseidelsohn.js",
    ...["--excludePrivatePackages", "--summary"],
    `--onlyAllow=${[...plainLicences, ...namedLicences].join(";")}`,
  ],
  promises: ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "."],
};

process.exitCode = (await runChecks(process.argv.slice(2))) ? 0 : 1;

/**
 * Runs the checks, two at a time in their order, and prints a line for each as it ends and the output of those that failed. A
 * failure does not stop the others, so that one run shows every problem. `words` choose the checks whose names contain one.
 */
async function runChecks(words: readonly string[]): Promise<boolean> {
  const chosen = Object.entries(checks).filter(
    ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  const names = chosen.map(([name]) => name);
  if (names.length === 0) {
    console.error(`There is no such check; there are: ${Object.keys(checks).join(", ")}`);
    return false;
  }
  const widest = Math.max(...names.map((name) => name.length));
  const failed: string[] = [];
  const waiting = chosen.values();
  const runWaiting = async () => {
    for (const [name, command] of waiting) {
      const { ok, seconds, output } = await runCheck(command);
      console.log(`${ok ? "ok    " : "FAILED"} ${name.padEnd(widest)} ${seconds.toFixed(1).padStart(5)} s`);
      if (ok) continue;
      failed.push(name);
      console.log(output.trimEnd().replaceAll(/^/gm, "    "));
    }
  };
  await Promise.all([runWaiting(), runWaiting()]);
  console.log(failed.length === 0 ? `${names.length} checks passed` : `failed: ${failed.join(", ")}`);
  return failed.length === 0;
}

async function runCheck(command: readonly string[]) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, "close");
  const seconds = (performance.now() - startedMs) / 1000;
  return { ok: code === 0, output: Buffer.concat(chunks).toString(), seconds };
}
