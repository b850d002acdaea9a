import { sourceFiles } from "../source-files.ts";
import { selectTests } from "./tiers.ts";

/** One part of the long tier: a script with its arguments, and a name to run it alone by. */
export interface LongPart {
  readonly name: string;
  readonly command: readonly string[];
}

const containers = ["compose", "options", "small", "kubernetes"].map(
  (name): LongPart => ({ name: `containers ${name}`, command: ["infra/containers/run.ts", name] }),
);

/** Every part of the long tier, the shortest kind first. */
export function longParts(): LongPart[] {
  const files = selectTests(sourceFiles("*.test.ts"), [], ["long"]);
  return [
    ...files.map((file): LongPart => ({ name: file, command: ["infra/tasks/test.ts", file] })),
    { name: "attacks embedded", command: ["test-e2e/attacks/main.ts", "--mode", "embedded"] },
    { name: "ledger embedded", command: ["test-e2e/ledger/run.ts", "--mode", "embedded", "--rounds", "20"] },
    { name: "ledger engines", command: ["test-e2e/ledger/run.ts", "--mode", "engines", "--rounds", "5"] },
    // The version beside itself: `npm run upgrade-drill -- <commit>` rolls from another one.
    { name: "upgrade drill", command: ["test-e2e/rolling/upgrade-drill.ts", "HEAD"] },
    ...containers,
  ];
}
