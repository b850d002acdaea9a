import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { root } from "../repository.ts";
import { commandsIn, shellFunctionsOf } from "./runbook-commands.ts";

const page = await readFile(join(root, "docs/runbooks.md"), "utf8");
/** Prints the words of a command instead of running it. */
const printing = 'kubectl() { echo kubectl "$@"; }; docker() { echo docker "$@"; }; KEY=k ID=i WHY=w SERVICE=images;';

for (const deployment of ["Kubernetes", "compose", "small"] as const) {
  test(`the functions that the page of runbooks defines for ${deployment} run the commands that tests run`, () => {
    assert.ok(page.includes(`<!-- shell: ${deployment} -->\n\`\`\`sh\n${shellFunctionsOf(deployment)}\n`));
    const shown = page.match(/^(?:ops|logs) .+$/gm) ?? [];
    assert.ok(shown.length > 40, `${shown.length}`);
    const print = (commands: readonly string[]) =>
      execFileSync("sh", ["-c", [printing, ...commands].join("\n")], { encoding: "utf8" });
    assert.equal(
      print([shellFunctionsOf(deployment), ...shown]),
      print(commandsIn(page, deployment, ["operator", "repair", "logs"])),
    );
  });
}
