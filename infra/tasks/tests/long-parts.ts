import { sourceFiles } from "../source-files.ts";
import { selectTests } from "./tiers.ts";

/** One part of the long tier: a script with its arguments, and a name to run it alone by. */
export interface LongPart {
  readonly name: string;
  readonly command: readonly string[];
  /** Added to the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

const containers = ["compose", "options", "small", "kubernetes"].map(
  (name): LongPart => ({ name: `containers ${name}`, command: ["infra/containers/run.ts", name] }),
);

/** Tests of the default tier with more cases than a run of it has time for. */
const fuzzing: readonly LongPart[] = [
  ["images", "services/images/test/mutations.int.test.ts", { IMAGE_MUTATIONS: "2000" }] as const,
  ["federation", "libs/federation/test/same-as-merged.test.ts", { FEDERATION_RUNS: "1112" }] as const,
].map(([name, file, variables]) => ({ name: `fuzzing ${name}`, command: ["infra/tasks/test.ts", file], variables }));

/** Every part of the long tier, the shortest kind first. */
export function longParts(): LongPart[] {
  const files = selectTests(sourceFiles("*.test.ts"), [], ["long"]);
  return [
    ...files.map((file): LongPart => ({ name: file, command: ["infra/tasks/test.ts", file] })),
    ...fuzzing,
    { name: "attacks embedded", command: ["test-e2e/attacks/main.ts", "--mode", "embedded"] },
    { name: "aborts", command: ["test-e2e/aborts/run.ts", "--minutes", "10"] },
    { name: "ledger embedded", command: ["test-e2e/ledger/run.ts", "--mode", "embedded", "--rounds", "20"] },
    { name: "ledger engines", command: ["test-e2e/ledger/run.ts", "--mode", "engines", "--rounds", "5"] },
    ...["embedded", "engines"].map((mode) => ({
      name: `ledger machines ${mode}`,
      command: ["test-e2e/ledger/run.ts", "--mode", mode, "--machines", "--rounds", "8"],
    })),
    { name: "incidents", command: ["test-e2e/incidents/run.ts"] },
    // The version beside itself: `npm run upgrade-drill -- <commit>` rolls from another one.
    { name: "upgrade drill", command: ["test-e2e/rolling/upgrade-drill.ts", "HEAD"] },
    ...containers,
  ];
}
