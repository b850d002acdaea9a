/**
 * Run in a folder that holds only the manifests of this repository: leaves what the services need to run. The image has its
 * own Node, so the packages of the root (the npm package `node`, the compiler, the linters) go, and all that is for tests.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

for (const folder of ["infra", "bench", "test-e2e", "libs/testing"]) rmSync(folder, { recursive: true });
rewrite("package.json", (root) => ({
  ...root,
  dependencies: {},
  devDependencies: {},
  workspaces: ["libs/*", "services/*"],
}));
for (const group of ["libs", "services"]) {
  for (const name of readdirSync(group))
    rewrite(`${group}/${name}/package.json`, (own) => ({ ...own, devDependencies: {} }));
}

function rewrite(path, change) {
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))));
}
