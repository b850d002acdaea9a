/** Starts one service as a process of its own: `npm run service -- images --http.port=8090`. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { serviceNames } from "@signalbox/core";
import { root } from "../generate/repository.ts";

const [name = ""] = process.argv.splice(2, 1);
if (serviceNames.some((known) => known === name)) {
  await import(pathToFileURL(join(root, "services", name, "src/main.ts")).href);
} else {
  console.error(`"${name}" is not a service. Name one of ${serviceNames.join(", ")}: npm run service -- images`);
  process.exitCode = 1;
}
