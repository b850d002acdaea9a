import { execFileSync } from "node:child_process";
import { root } from "../generate/repository.ts";

/** The files git knows or would take that match `pattern`, the fixtures of the checks aside. */
export function sourceFiles(pattern = "*"): string[] {
  const output = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "--deduplicate", pattern], {
    cwd: root,
    encoding: "utf8",
  });
  return output.split("\n").filter((file) => file !== "" && !file.startsWith("infra/tasks/fixtures/"));
}
