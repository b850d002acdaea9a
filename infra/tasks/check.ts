import { spawn } from "node:child_process";
import { once } from "node:events";
import { root } from "../generate/repository.ts";

/** One command of a task, run with the Node of this process. */
interface Step {
  readonly name: string;
  /** A script and its arguments, from the root of the repository. */
  readonly command: readonly string[];
}

const plainLicences = [
  ...["MIT", "MIT-0", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0"],
  ...["CC0-1.0", "CC-BY-3.0", "Unlicense", "Zlib", "Python-2.0", "PSF-2.0"],
];
/** Ask for more than attribution: NOTICE names the packages that have them. */
const namedLicences = ["Elastic-2.0", "LGPL-3.0-or-later", "LGPL-3.0", "EPL-2.0", "MPL-2.0"];

/**
 * The checks of `npm run check`; the longest first, so that the others run beside it. One job for each linter: Biome
 * formats and lints rules without types, oxlint finds unawaited promises (Biome misses those of `node:` modules and
 * packages), dependency-cruiser checks the boundaries (it needs the API of TypeScript 6).
 */
const steps: readonly Step[] = [
  { name: "types", command: ["infra/tasks/check-types.ts"] },
  { name: "dead code", command: ["node_modules/knip/bin/knip.js", "--no-progress", "--no-config-hints"] },
  { name: "format and lint", command: ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."] },
  { name: "generated files", command: ["infra/generate/run.ts", "--check"] },
  {
    name: "boundaries",
    command: [
      "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
      "--output-type",
      "err",
      "libs",
      "services",
      "infra",
      "bench",
      "test-e2e",
    ],
  },
  {
    name: "lock file",
    command: [
      "node_modules/lockfile-lint/bin/lockfile-lint.js",
      "--path=package-lock.json",
      "--allowed-hosts=npm",
      "--validate-https",
      "--validate-integrity",
      "--validate-package-names",
    ],
  },
  {
    name: "licences",
    command: [
      "node_modules/license-checker-rseidelsohn/bin/license-checker-rseidelsohn.js",
      "--excludePrivatePackages",
      "--summary",
      `--onlyAllow=${[...plainLicences, ...namedLicences].join(";")}`,
    ],
  },
  { name: "promises", command: ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "."] },
];

process.exitCode = (await runSteps(steps, 2)) ? 0 : 1;

/**
 * Runs steps, `concurrency` at a time in their order, prints a line for each as it ends and the output of those that
 * failed. A failure does not stop the others, so that one run shows every problem.
 */
async function runSteps(steps: readonly Step[], concurrency: number): Promise<boolean> {
  const waiting = [...steps];
  const results: Awaited<ReturnType<typeof runStep>>[] = [];
  const widest = Math.max(...steps.map(({ name }) => name.length));
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
        const result = await runStep(step);
        results.push(result);
        console.log(
          `${result.ok ? "ok    " : "FAILED"} ${step.name.padEnd(widest)} ${result.seconds.toFixed(1).padStart(5)} s`,
        );
        if (!result.ok) console.log(indent(result.output));
      }
    }),
  );
  const failed = results.filter(({ ok }) => !ok);
  console.log(
    failed.length === 0
      ? `${results.length} checks passed`
      : `failed: ${failed.map(({ step }) => step.name).join(", ")}`,
  );
  return failed.length === 0;
}

async function runStep(step: Step) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, step.command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, "close");
  const seconds = (performance.now() - startedMs) / 1000;
  return { step, ok: code === 0, output: Buffer.concat(chunks).toString(), seconds };
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "    ");
}
