import { packageProperties } from "../generate/package-properties.ts";
import { unreadProperties } from "./property-reads.ts";
import { readSources } from "./structure/read-sources.ts";

const declared = (await packageProperties()).map(({ folder, properties }) => ({
  folder,
  names: Object.keys(properties),
}));
const problems = unreadProperties(declared, readSources());
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
