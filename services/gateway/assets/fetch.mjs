/**
 * Brings the files of GraphiQL from their packages into this folder: `node services/gateway/assets/fetch.mjs`.
 * Their 165 dependencies are built into them, so none of those is installed. To take another version, change it in
 * `packages.json` without its `integrity`, run this and read what changed; with `integrity`, other bytes are refused.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { brotliCompressSync } from "node:zlib";

const list = new URL("packages.json", import.meta.url);
const digest = (algorithm, bytes, encoding) => createHash(algorithm).update(bytes).digest(encoding);
const folder = mkdtempSync(join(tmpdir(), "graphiql-"));
try {
  const packages = JSON.parse(readFileSync(list, "utf8")).map(fetchPackage);
  writeFileSync(list, `${JSON.stringify(packages, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

function fetchPackage({ name, version, licence, integrity, files }) {
  const pack = ["pack", `${name}@${version}`, "--silent", "--pack-destination", folder];
  const archive = join(folder, execFileSync("npm", pack, { encoding: "utf8" }).trim());
  const found = `sha512-${digest("sha512", readFileSync(archive), "base64")}`;
  if (integrity !== undefined && integrity !== found) throw new Error(`${name}@${version} has the checksum ${found}`);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  const names = Array.isArray(files) ? files : Object.keys(files);
  const kept = names.map((file) => {
    const bytes = readFileSync(join(folder, "package", file));
    mkdirSync(new URL(`${name}/`, import.meta.url), { recursive: true });
    writeFileSync(new URL(`${name}/${basename(file)}.br`, import.meta.url), brotliCompressSync(bytes));
    return [file, `sha256-${digest("sha256", bytes, "base64")}`];
  });
  rmSync(join(folder, "package"), { recursive: true });
  return { name, version, licence, integrity: found, files: Object.fromEntries(kept) };
}
