import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { type PackageProperties, packageProperties } from "../package-properties.ts";
import { root } from "../repository.ts";

const start = "<!-- properties:start -->";
const end = "<!-- properties:end -->";
const reference = "../../docs/reference/properties.md";

/** The lists of properties between the two marks in the README of each library and service. */
export const propertyLists: Generator = {
  name: "property lists",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const packages = await packageProperties();
    return new Map(await Promise.all(packages.map((declared) => readmeOf(declared, packages))));
  },
};

async function readmeOf(declared: PackageProperties, all: readonly PackageProperties[]): Promise<[string, string]> {
  const path = `${declared.folder}/README.md`;
  const text = await readFile(join(root, path), "utf8");
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${path} lacks the marks ${start} and ${end}.`);
  const list = sectionOf(declared, all);
  return [path, `${text.slice(0, from + start.length)}\n${list}\n${text.slice(to)}`];
}

/** Builds the list of a package's properties. They are explained in one place, the reference; each by its library. */
function sectionOf({ kind, properties }: PackageProperties, all: readonly PackageProperties[]): string {
  const libraries = all.filter((other) => other.kind === "library");
  const isOwn = (name: string) => kind === "library" || !libraries.some((library) => name in library.properties);
  const own = Object.keys(properties).filter(isOwn);
  const used = libraries.filter((library) => Object.keys(library.properties).some((name) => name in properties));
  const links = kind === "library" ? [] : used.map(({ name, folder }) => `[${name}](../../${folder}/README.md)`);
  return [
    ...(own.length > 0 ? [`${own.map((name) => `\`${name}\``).join(" · ")}: [the reference](${reference}).`] : []),
    ...(links.length > 0 ? [`Also takes properties of ${links.join(", ")}.`] : []),
  ].join("\n\n");
}
