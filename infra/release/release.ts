import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Commit, changelogSection, newestRelease, withSection } from "./changelog.ts";
import { type ContractChange, contractChanges, type Snapshot } from "./contract-changes.ts";
import { isAtLeast, nextVersion, type Step, stepFor } from "./version.ts";

export interface Release {
  readonly version: string;
  /** The version before, as a tag or a commit; null for the first one. */
  readonly since: string | null;
  /** Its section of the changelog. */
  readonly section: string;
  readonly changes: readonly ContractChange[];
}

interface Wanted {
  /** A repository of git, clean. */
  readonly folder: string;
  /** A step or a version of its own; the smallest that tells the truth when left out. */
  readonly version?: string | undefined;
  readonly day: string;
}

const steps: readonly string[] = ["major", "minor", "patch"] satisfies Step[];

/**
 * Works out the next version: its number, and what changed since the last tag.
 *
 * @throws Error for a version that hides a break, and without commits since the last one
 */
export async function prepareRelease({ folder, version, day }: Wanted): Promise<Release> {
  const git = gitIn(folder);
  const last = lastRelease(folder);
  const since = last?.revision ?? null;
  const commits = commitsIn(git, since);
  if (commits.length === 0) throw new Error(`Nothing was committed since ${since}.`);
  const manifest = JSON.parse(git("show", "HEAD:package.json"));
  const changes = since === null ? [] : await contractChanges(snapshot(git, since), snapshot(git, "HEAD"));
  // The first tag is the version that package.json has had all the time.
  const least = last === null ? manifest.version : nextVersion(last.version, stepFor(last.version, changes));
  const asked = steps.includes(version ?? "") ? nextVersion(last?.version ?? "0.0.0", version as Step) : version;
  const chosen = asked ?? least;
  if (!isAtLeast(chosen, least)) throw new Error(`What changed needs ${least} at least; ${chosen} would hide it.`);
  // Of a first release everything is new: a list of its commits would be the history.
  const head = { version: chosen, day, commit: git("rev-parse", "--short", "HEAD") };
  const section = changelogSection(head, changes, since === null ? [] : commits);
  return { version: chosen, since, changes, section };
}

/**
 * Finds the release before this revision: by its tag, or in a clone without tags by the commit that the changelog names.
 * Null before the first.
 */
export function lastRelease(folder: string): { readonly version: string; readonly revision: string } | null {
  const git = gitIn(folder);
  const tag = git("tag", "--list", "v*", "--sort=-version:refname").split("\n")[0];
  if (tag) return { version: tag.slice(1), revision: tag };
  const isThere = git("ls-tree", "--name-only", "HEAD", "CHANGELOG.md") !== "";
  const newest = isThere ? newestRelease(git("show", "HEAD:CHANGELOG.md")) : null;
  return newest && { version: newest.version, revision: newest.commit };
}

/** The files that name the version beside the packages, and the lines that do. */
const versioned: Readonly<Record<string, RegExp>> = {
  "k8s/chart/Chart.yaml": /(?<=^(?:version|appVersion): ).*$/gm,
  "k8s/overlays/production/kustomization.yaml": /(?<=newName: registry\.example\/signalbox, newTag: )[^ ]+/g,
};

/** Writes version and changelog, commits them and tags the commit. Nothing leaves the machine. */
export async function makeRelease(folder: string, { version, section }: Release): Promise<void> {
  const git = gitIn(folder);
  for (const name of ["package.json", "package-lock.json"]) {
    const path = join(folder, name);
    const file = JSON.parse(await readFile(path, "utf8"));
    file.version = version;
    if (file.packages?.[""]) file.packages[""].version = version;
    await writeFile(path, `${JSON.stringify(file, null, 2)}\n`);
  }
  const changelog = join(folder, "CHANGELOG.md");
  const before = await readFile(changelog, "utf8").catch(() => null);
  await writeFile(changelog, withSection(before, section));
  for (const [path, places] of Object.entries(versioned)) {
    const text = await readFile(join(folder, path), "utf8");
    await writeFile(join(folder, path), text.replace(places, version));
  }
  git("add", "package.json", "package-lock.json", "CHANGELOG.md", ...Object.keys(versioned));
  git("commit", "--quiet", "--message", `Release ${version}`);
  git("tag", "--annotate", `v${version}`, "--message", `Signalbox ${version}`);
}

type Git = (...args: readonly string[]) => string;

/** Runs git in a folder, and answers with what it printed. */
export function gitIn(folder: string): Git {
  const maxBuffer = 256 * 1024 * 1024;
  return (...args) => execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe", maxBuffer }).trimEnd();
}

function commitsIn(git: Git, since: string | null): Commit[] {
  const range = since === null ? "HEAD" : `${since}..HEAD`;
  const text = git("log", "--no-merges", "--name-only", "--format=%x00%h%x09%s", range);
  return text
    .split("\0")
    .filter(Boolean)
    .map((block) => {
      const [head = "", ...files] = block.split("\n").filter(Boolean);
      const [hash = "", subject = ""] = head.split("\t");
      return { hash, subject, files };
    });
}

/** A revision as it is checked in, without touching the working tree. */
function snapshot(git: Git, revision: string): Snapshot {
  const files = git("ls-tree", "-r", "--name-only", revision).split("\n");
  const known = new Set(files);
  return {
    list: (folder) => files.filter((path) => path.startsWith(`${folder}/`)),
    read: (path) => (known.has(path) ? git("show", `${revision}:${path}`) : null),
  };
}
