import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { root } from "../../generate/repository.ts";
import { goTypes, javaTypes } from "./compiled-types.ts";
import { type EventTypes, readEventTypes } from "./event-shapes.ts";
import { pythonTypes, typescriptTypes } from "./script-types.ts";

/** The files of the types by their paths: one folder for each language. */
const eventTypeFiles = (types: EventTypes): ReadonlyMap<string, string> =>
  new Map([
    ["typescript/events.ts", typescriptTypes(types)],
    ["python/signalbox_events.py", pythonTypes(types)],
    ["go/events.go", goTypes(types)],
    ["go/go.mod", "module signalbox.dev/events\n\ngo 1.21\n"],
    ["java/signalbox/events/Events.java", javaTypes(types)],
  ]);

/**
 * Packs the types of all events for TypeScript, Python, Go and Java, with their accepted schemas, as one archive. Answers
 * with its path; it has the version of the product.
 */
export async function packEventTypes(destination: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const parent = await mkdtemp(join(tmpdir(), "signalbox-event-types-"));
  const name = `signalbox-event-types-${version}`;
  try {
    for (const [path, text] of eventTypeFiles(await readEventTypes())) {
      await mkdir(dirname(join(parent, name, path)), { recursive: true });
      await writeFile(join(parent, name, path), text);
    }
    await cp(join(root, "libs/contracts/accepted"), join(parent, name, "schemas"), { recursive: true });
    await cp(join(root, "LICENSE"), join(parent, name, "LICENSE"));
    await mkdir(destination, { recursive: true });
    const archive = join(resolve(destination), `${name}.tgz`);
    execFileSync("tar", ["--create", "--gzip", "--file", archive, "--directory", parent, name]);
    return archive;
  } finally {
    await rm(parent, { recursive: true });
  }
}
