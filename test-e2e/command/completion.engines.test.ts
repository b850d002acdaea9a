import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createPerson } from "./run-signalbox.ts";

const run = promisify(execFile);

/** Types into a fresh zsh in a pseudo-terminal of its own, and reads on until each answer is there. */
const pressTab = `
zmodload zsh/zpty
zpty person zsh -f -i
zpty -w person "fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D; echo SET''UP"
zpty -r person shown '*SETUP*'
zpty -w -n person "signalbox lis"$'\\t'
zpty -r person shown '*signalbox listen*'
zpty -w -n person "--for"$'\\t'
zpty -r person shown '*--forward*'
print completed
`;

test("zsh completes at the first Tab", { timeout: 60_000 }, async (t) => {
  const person = await createPerson(t, { baseUrl: "http://127.0.0.1:9" });
  const { code, stdout } = await person.run(["completion", "zsh"]);
  assert.equal(code, 0);
  await writeFile(join(person.home, "_signalbox"), stdout);
  const shell = await run("zsh", ["-f", "-c", pressTab, "zsh", person.home]);
  assert.equal(shell.stdout, "completed\n");
});
