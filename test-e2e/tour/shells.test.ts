import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";

const howTos = join(repositoryFolder, "docs/how-to");

/** Lines of a page that are pasted into a shell, without what is quoted in them. */
function linesOf(page: string): string[] {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = ""]) => block);
  const bare = blocks.map((block) => block.replaceAll(/<<'?(\w+)'?.*?^\1$|'[^']*'|"(?:\\.|[^"\\])*"/gms, "''"));
  return bare.flatMap((block) => block.split("\n"));
}

test("a block of the README or a how-to means the same in bash as in zsh", async () => {
  const pages = [join(repositoryFolder, "README.md"), ...(await readdir(howTos)).map((name) => join(howTos, name))];
  for (const path of pages) {
    for (const line of linesOf(await readFile(path, "utf8"))) {
      assert.doesNotMatch(line, /\s#\s/, `${path}: zsh takes the comment for arguments`);
      assert.doesNotMatch(line, /\$\(echo \$\w+\)/, `${path}: zsh does not split words`);
      assert.doesNotMatch(line, /\s\$?[\w/:.]*\?/, `${path}: zsh takes ? for a pattern that finds no file`);
    }
  }
});
