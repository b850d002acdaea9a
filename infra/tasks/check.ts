import { runSteps, type Step } from "./run-steps.ts";

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
  { name: "promises", command: ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "."] },
];

process.exitCode = (await runSteps(steps, 2)) ? 0 : 1;
