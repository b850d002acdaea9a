import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Computes one digest over the files of `root` (a missing one is marked as such) and `extra`. */
export function fingerprint(root, files, extra = "") {
  const hash = createHash("sha256").update(extra);
  for (const file of files) {
    const path = join(root, file);
    hash.update(`\0${file}\0`);
    if (existsSync(path) && statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}
