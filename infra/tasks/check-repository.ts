import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../generate/repository.ts";
import { commentRules } from "./comment-rules.ts";
import { repositoryRules } from "./repository-rules.ts";
import { sourceFiles } from "./source-files.ts";

const files = sourceFiles()
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

for (const { because, find } of [...repositoryRules, ...commentRules]) {
  const found = find(files);
  if (found.length === 0) continue;
  console.error(`${because}\n${found.map((place) => `  ${place}`).join("\n")}`);
  process.exitCode = 1;
}
