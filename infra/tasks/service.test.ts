import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { root } from "../generate/repository.ts";

/** Runs the task like a person: with the Node that npm runs on, not with the one of the packages. */
function runTask(...argv: string[]) {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return spawnSync("npm", ["run", "--silent", "service", "--", ...argv], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, PATH: path.join(delimiter), NODE_TEST_CONTEXT: undefined },
    shell: process.platform === "win32",
  });
}

test("a service is started by its name with the properties of the command line", () => {
  const { status, stderr } = runTask("images", "--http.port=eighty");
  assert.match(stderr, /http\.port \(from --http\.port\)/);
  assert.equal(status, 1);
});

test("an unknown service is refused with the existing names", () => {
  const { status, stderr } = runTask("imags");
  assert.match(stderr, new RegExp(`"imags" is not a service\\. Name one of ${serviceNames.join(", ")}`));
  assert.equal(status, 1);
});
