import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { root } from "../generate/repository.ts";

/** Folders that git ignores; named here for a tree without git, such as an unpacked archive. */
const ignored = ["node_modules", "generated", ".git", ".engines", ".signalbox", "coverage"];

/** Lists tracked and untracked files that match `pattern` (a name with `*`). */
export function sourceFiles(pattern = "*"): string[] {
  return filesOfGit(pattern) ?? filesOfFolder(pattern);
}

/** Lists the files of git; null without git or a repository. */
function filesOfGit(pattern: string): string[] | null {
  try {
    const argv = ["ls-files", "-co", "--exclude-standard", "--deduplicate", pattern];
    const output = execFileSync("git", argv, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return output.split("\n").filter((file) => file !== "");
  } catch {
    return null;
  }
}

function filesOfFolder(pattern: string): string[] {
  const entries = globSync(`**/${pattern}`, {
    cwd: root,
    withFileTypes: false,
    exclude: (path) => ignored.some((name) => path.split("/").includes(name)),
  });
  return entries.sort();
}
