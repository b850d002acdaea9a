import { globSync } from "node:fs";
import { basename } from "node:path";
import { root } from "../../generate/repository.ts";

/** The tiers of tests, by the suffix of their files: a tier is never a skip inside a file. */
export type Tier = "unit" | "int" | "engines" | "long";

const suffix = /\.(int|engines|long)\.test\.ts$/;

/** The tier of a test file: what it needs beside Node and npm, and what it costs. */
export function tierOf(file: string): Tier {
  return (suffix.exec(file)?.[1] ?? "unit") as Tier;
}

/** The tiers of `npm test`: Node and npm alone (PostgreSQL comes as an npm package). */
const defaultTiers: readonly Tier[] = ["unit", "int"];

const tiers = new Set<string>(["unit", "int", "engines", "long"] satisfies Tier[]);

/** The folders of all source. */
export const folders = ["libs", "services", "infra", "bench", "test-e2e"];

/**
 * Chooses test files. A word names a tier (`int`) or the beginning of a path; a file named in full is taken whatever its
 * tier is, everything else only from the tiers named, or from `otherwise` when none is.
 */
export function selectTests(words: readonly string[], otherwise: readonly Tier[] = defaultTiers): string[] {
  const exclude = (path: string) => ["node_modules", "generated"].includes(basename(path));
  const files = globSync(`{${folders}}/**/*.test.ts`, { cwd: root, exclude }).sort();
  const named = words.filter((word) => tiers.has(word));
  const paths = words.filter((word) => !tiers.has(word)).map((word) => word.replace(/^\.\//, ""));
  const wanted = named.length > 0 ? named : otherwise;
  return files.filter(
    (file) =>
      paths.includes(file) ||
      (wanted.includes(tierOf(file)) && (paths.length === 0 || paths.some((path) => file.startsWith(path)))),
  );
}

/** The words of a command line that select tests, and its options: ours, and those of node's runner. */
export function parseTestArguments(argv: readonly string[]) {
  const options = argv.filter((word) => word.startsWith("--"));
  return {
    words: argv.filter((word) => !word.startsWith("--")),
    slowest: options.includes("--slowest"),
    runnerOptions: options.filter((option) => option !== "--slowest"),
  };
}
