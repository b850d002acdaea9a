import { createReadStream } from "node:fs";
import { access, cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { enginesFolder, repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { containersFolder, hasImage, imageVariables, run } from "./podman.ts";

const nodeImage = "localhost/node:24-slim";
const enginesImage = "localhost/signalbox-engines";
const build = ["bud", "--format", "docker", "--isolation", "chroot", "--network", "host", "--layers"];
const path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Home of the user that runs a build. */
const homeInside = "/root";
const mirror = "http://deb.debian.org/debian";
/** Packages of the engines' stand-ins; nginx must support `resolve` in an upstream, so it is a later Debian. */
const enginePackages = "ca-certificates,nginx,redis-server,postgresql-18,openjdk-21-jre-headless,wget";

/** Builds missing images: the base systems once for a machine, the image of the services each time. */
export async function buildImages(report: (step: string) => void): Promise<void> {
  if (!(await hasImage(nodeImage))) {
    report("the base with Node, by debootstrap");
    await buildNodeBase();
  }
  if (!(await hasImage(enginesImage))) {
    report("the base of the engines, by debootstrap");
    await importBase("engines", await debootstrap("engines", "forky", enginePackages), enginesImage);
  }
  report("the stand-ins of the engine images");
  await buildStandIns();
  report("the image of the services");
  await buildServices();
}

async function debootstrap(name: string, suite: string, packages: string): Promise<string> {
  const folder = join(containersFolder, name);
  const script = join("/usr/share/debootstrap/scripts", suite);
  await access(script).catch(() => symlink("sid", script)); // a suite newer than the tool is built like sid
  await rm(folder, { recursive: true, force: true });
  const options = ["--variant=minbase", "--no-check-gpg", `--include=${packages}`];
  await run("debootstrap", [...options, suite, folder, mirror]);
  return folder;
}

async function importBase(name: string, folder: string, image: string): Promise<void> {
  const archive = join(containersFolder, `${name}.tar`);
  const caches = ["--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*"];
  await run("tar", ["-C", folder, ...caches, "-cf", archive, "."]);
  await run("podman", ["import", "--change", path, "-", image], { input: createReadStream(archive) });
  await Promise.all([rm(archive), rm(folder, { recursive: true })]);
}

/** Builds the equivalent of the image `node:24-slim`: Debian, Node and npm. */
async function buildNodeBase(): Promise<void> {
  const folder = await debootstrap("node", "bookworm", "ca-certificates");
  const modules = join(folder, "usr/local/lib/node_modules");
  await mkdir(modules, { recursive: true });
  await cp(process.execPath, join(folder, "usr/local/bin/node"));
  await run("npm", ["install", "--prefix", join(folder, "usr/local"), "--global", "--no-audit", "--no-fund", "npm@11"]);
  await importBase("node", folder, nodeImage);
}

async function buildStandIns(): Promise<void> {
  const folder = join(containersFolder, "stand-ins");
  for (const name of ["kafka", "s3"] as const) await engineNamed(name).fetch();
  await rm(folder, { recursive: true, force: true });
  await cp(join(import.meta.dirname, "stand-ins"), join(folder, "stand-ins"), { recursive: true });
  await cp(join(enginesFolder, "kafka-4.3.1"), join(folder, "kafka"), { recursive: true, dereference: true });
  await cp(join(enginesFolder, "versitygw-v1.7.0"), join(folder, "versitygw"), { recursive: true, dereference: true });
  for (const image of Object.values(imageVariables)) {
    const target = image.replace("localhost/signalbox-", "");
    const options = [...build, "--build-arg", `ENGINES_IMAGE=${enginesImage}`];
    const file = join(import.meta.dirname, "stand-ins.Containerfile");
    await run("buildah", [...options, "--target", target, "-f", file, "-t", image, folder]);
  }
}

/**
 * Builds our unchanged Dockerfile. A machine with a certificate authority of its own passes it, and the settings of
 * npm, to the build.
 */
async function buildServices(): Promise<void> {
  const npmrc = join(containersFolder, "npmrc");
  const own = await readFile(join(homedir(), ".npmrc"), "utf8").catch(() => "");
  await writeFile(npmrc, `${own}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`);
  const mounts = ["-v", `${npmrc}:${homeInside}/.npmrc:ro`, "-v", "/etc/ssl/certs:/etc/ssl/certs:ro"];
  const values = [`NODE_IMAGE=${nodeImage}`, "RELEASE=0.0.0-test", "COMMIT=containers"];
  const file = join(repositoryFolder, "infra/docker/Dockerfile");
  const built = values.flatMap((value) => ["--build-arg", value]);
  // By the name in the compose file, and by the version in the example `local` of the chart.
  const names = ["-t", "localhost/signalbox", "-t", "localhost/signalbox:0.0.0-test"];
  await run("buildah", [...build, ...mounts, ...built, "-f", file, ...names, repositoryFolder]);
}
