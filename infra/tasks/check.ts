import { runSteps, type Step } from "./run-steps.ts";

/** A second run looks only at what has changed since the first. */
const remembered = ["--incremental", "--tsBuildInfoFile", "node_modules/.cache/signalbox/types.tsbuildinfo"];

/**
 * The checks of `npm run check`; the longest first, so that the others run beside it. One job for each linter: Biome
 * formats and lints rules without types, oxlint finds unawaited promises (Biome misses those of `node:` modules and
 * packages), dependency-cruiser checks the boundaries (it needs the API of TypeScript 6).
 */
const steps: readonly Step[] = [
  {
    name: "types",
    command: ["node_modules/typescript-native/bin/tsc", "--noEmit", "-p", "tsconfig.json", ...remembered],
  },
  { name: "dead code", command: ["node_modules/knip/bin/knip.js", "--no-progress", "--no-config-hints"] },
  { name: "format and lint", command: ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."] },
  { name: "generated files", command: ["infra/generate/run.ts", "--check"] },
  { name: "boundaries", command: ["infra/tasks/check-boundaries.ts"] },
  { name: "promises", command: ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "."] },
  { name: "properties", command: ["infra/tasks/check-properties.ts"] },
  { name: "structure", command: ["infra/tasks/check-structure.ts"], isShown: true },
  { name: "repository", command: ["infra/tasks/check-repository.ts"] },
];

process.exitCode = (await runSteps(steps, 2)) ? 0 : 1;
