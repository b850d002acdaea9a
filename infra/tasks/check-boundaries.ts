import { join } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import extractOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import { root } from "../generate/repository.ts";
import { sourceFiles } from "./source-files.ts";

const folders = ["libs", "services", "infra", "bench", "test-e2e"];

/** The violations of the miniature repository in `fixtures/boundaries`, as `rule: from`. */
const brokenInFixture = [
  "composition-root-is-on-top: services/account/src/account.ts",
  "front-doors: libs/config/src/setting.ts",
  "front-doors: libs/core/src/index.ts",
  "home-of-kafkajs: libs/core/src/index.ts",
  "layer-core: libs/core/src/index.ts",
  "libraries-know-no-product: libs/config/src/setting.ts",
  "no-cycles: libs/config/src/setting.ts",
  "resolvable: libs/config/src/setting.ts",
];

const problems = [...(await brokenRules()), ...(await blindSpots())];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Lists the violations of this repository, and its unchecked modules. */
async function brokenRules(): Promise<string[]> {
  const result = await cruiseFolder(root, folders);
  const seen = new Set(result.modules.map(({ source }) => source));
  const unseen = [...sourceFiles("*.ts"), ...sourceFiles("*.tsx")].filter((file) => !seen.has(file));
  return [
    ...violationsOf(result).map(({ text, comment }) => `${text}\n    ${comment}`),
    ...unseen.map((file) => `${file} is not seen by dependency-cruiser, so no rule applies to it.`),
  ];
}

/** Lists the violations of the fixture that went unreported. */
async function blindSpots(): Promise<string[]> {
  const result = await cruiseFolder(join(root, "infra/tasks/fixtures/boundaries"), ["libs", "services"]);
  const reported = violationsOf(result).map(({ text }) => text);
  return brokenInFixture
    .filter((expected) => !reported.some((text) => text.startsWith(`${expected} →`)))
    .map((expected) => `The fixture's violation is not reported: ${expected}`);
}

async function cruiseFolder(baseDir: string, paths: string[]): Promise<ICruiseResult> {
  const options = await extractOptions(join(root, ".dependency-cruiser.js"));
  const { output } = await cruise(paths, { ...options, baseDir, cache: false });
  if (typeof output === "string") throw new Error("dependency-cruiser returned a report instead of a result");
  return output;
}

function violationsOf({ summary }: ICruiseResult): Array<{ text: string; comment: string }> {
  const comments = new Map(summary.ruleSetUsed?.forbidden?.map(({ name, comment }) => [name, comment]));
  return summary.violations.map(({ rule, from, to }) => ({
    text: `${rule.name}: ${from} → ${to}`,
    comment: comments.get(rule.name) ?? "",
  }));
}
