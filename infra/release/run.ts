/**
 * `npm run release -- [major|minor|patch|<version>] [--dry-run] [--archives <folder>]`: version, changelog, commit, tag and
 * archives of a release, from a clean working tree. It pushes nothing.
 */
import { execFileSync, spawnSync } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";
import { environment } from "@signalbox/config";
import { root } from "../generate/repository.ts";
import { packRelease } from "./pack-release.ts";
import { makeRelease, prepareRelease } from "./release.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "dry-run": { type: "boolean", default: false }, archives: { type: "string" } },
});

try {
  const dirty = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
  if (dirty !== "" && !values["dry-run"]) throw new Error(`Commit or put aside first:\n${dirty}`);
  const day = new Date().toISOString().slice(0, 10);
  const release = await prepareRelease({ folder: root, version: positionals[0], day });
  process.stdout.write(`${release.section}\n${scanForVulnerabilities()}\n`);
  if (values["dry-run"]) process.stdout.write(`Would be v${release.version}; nothing was changed.\n`);
  else {
    await makeRelease(root, release);
    for (const path of values.archives ? await packRelease(values.archives, release.version) : [])
      process.stdout.write(`${path}\n`);
    process.stdout.write(`Tagged v${release.version}. To publish it: git push --follow-tags\n`);
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

/**
 * Holds the packages against the vulnerability database of osv-scanner where both are on this machine, without a network.
 *
 * @throws Error with its findings
 */
function scanForVulnerabilities(): string {
  const database = environment().OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY;
  if (!database) return "Vulnerabilities: not scanned. OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY names no database.";
  const scan = ["scan", "source", "--offline-vulnerabilities", "--lockfile", "package-lock.json"];
  const { status, error, stdout, stderr } = spawnSync("osv-scanner", scan, { cwd: root, encoding: "utf8" });
  if (error) throw new Error(`osv-scanner cannot be started: ${error.message}`);
  if (status !== 0) throw new Error(`osv-scanner ended with ${status}:\n${stdout}${stderr}`);
  return "Vulnerabilities: none known.";
}
