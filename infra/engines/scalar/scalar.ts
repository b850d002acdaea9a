import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { enginesFolder } from "../engine-folders.ts";
import { fetchOnce } from "../fetch-once.ts";

const run = promisify(execFile);

const version = "1.72.1";
const folder = join(enginesFolder, `scalar-${version}`);
const file = "standalone.js";
/** Of that file: what was looked at is what a browser runs. */
const sha256 = "bf091006bdc3af6067af77c2f534812e3e633e94a94e87138069f570f33b762c";

/**
 * The page reader of the npm package @scalar/api-reference, for `docs.reader`. Answers with the file's path. The package is
 * packed and not installed: the file is whole, and what the package depends on are 185 others.
 */
export async function fetchScalar(): Promise<string> {
  await fetchOnce(folder, async (into) => {
    await run("npm", ["pack", "--silent", "--pack-destination", into, `@scalar/api-reference@${version}`]);
    const archive = join(into, `scalar-api-reference-${version}.tgz`);
    await run("tar", ["-xzf", archive, "-C", into, `package/dist/browser/${file}`]);
    await rename(join(into, "package/dist/browser", file), join(into, file));
    await Promise.all([archive, join(into, "package")].map((path) => rm(path, { recursive: true })));
    const found = createHash("sha256")
      .update(await readFile(join(into, file)))
      .digest("hex");
    if (found !== sha256) throw new Error(`@scalar/api-reference ${version} has another ${file}: ${found}`);
  });
  return join(folder, file);
}
