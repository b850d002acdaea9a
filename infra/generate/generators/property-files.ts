import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { brokenRules, type PropertyDeclaration } from "@signalbox/runtime";
import { fileGenerator, type Generator } from "../generator.ts";
import { type PackageProperties, packageProperties } from "../package-properties.ts";
import { root } from "../repository.ts";

/** The properties of services that a process does not import. */
export const propertyCatalogue: Generator = {
  name: "property catalogue",
  kind: "built",
  generate: async () => {
    const services = await servicesWithProperties();
    assertRules(services);
    const byService = Object.fromEntries(services.map(({ name, properties }) => [name, properties]));
    return new Map([
      // The config service checks overrides of every service.
      ["services/config/src/generated/properties.json", `${JSON.stringify(byService, null, 2)}\n`],
      // A process accepts names of other services in a shared source.
      ["libs/runtime/src/generated/property-names.json", `${JSON.stringify(namesIn(services), null, 2)}\n`],
    ]);
  },
};

export const propertyPage = fileGenerator("docs/reference/properties.md", async () =>
  pageOf(await servicesWithProperties()),
);

const servicesWithProperties = async () => (await packageProperties()).filter(({ kind }) => kind === "service");

const namesIn = (services: readonly PackageProperties[]): string[] =>
  [...new Set(services.flatMap(({ properties }) => Object.keys(properties)))].sort();

function pageOf(services: readonly PackageProperties[]): string {
  const having = Map.groupBy(namesIn(services), (name) => {
    const users = services.filter(({ properties }) => Object.hasOwn(properties, name)).map((service) => service.name);
    return users.length === services.length ? "all" : users.join(", ");
  });
  const lineOf = (name: string, users: readonly string[] = []) => {
    const declaration = services.find(({ properties }) => Object.hasOwn(properties, name))?.properties[name];
    return lineOfProperty(name, declaration as PropertyDeclaration, users);
  };
  const shared = [...having].filter(([users]) => users.includes(", "));
  /** Those with a section of their own. */
  const isLarge = ([, ofUsers]: readonly [string, readonly string[]]) => ofUsers.length >= 8;
  return [
    "# Properties",
    "",
    "Generated from the declarations of all services. How they are given and changed: [configuration](configuration.md).",
    "",
    "In parentheses is the default with its unit, then the bounds, and how an override takes effect: live, at the next restart, or not at all",
    "(local, and secrets). Values are internal and read by operators, unless other readers (public, account) or another class (public class,",
    "sensitive) are named.",
    "",
    "## All services",
    "",
    ...(having.get("all") ?? []).map((name) => lineOf(name)),
    "",
    ...shared
      .filter(isLarge)
      .flatMap(([users, ofUsers]) => [
        `## ${shortened(users, services)}`,
        "",
        ...ofUsers.map((name) => lineOf(name)),
        "",
      ]),
    "## Several services",
    "",
    ...shared
      .filter((group) => !isLarge(group))
      .flatMap(([users, ofUsers]) => ofUsers.map((name) => lineOf(name, [shortened(users, services)])))
      .sort(),
    ...services
      .filter(({ name }) => having.has(name))
      .flatMap(({ name }) => ["", `## ${name}`, "", ...(having.get(name) ?? []).map((own) => lineOf(own))]),
    "",
  ].join("\n");
}

function lineOfProperty(name: string, declaration: PropertyDeclaration, users: readonly string[]): string {
  const given = [...users, boundsOf(declaration), changeOf(declaration)].join("; ");
  return `- \`${name}\` (${given}): ${declaration.effect}`;
}

/** Names the services without a property where that is shorter. */
function shortened(users: string, services: readonly PackageProperties[]): string {
  const lacking = services.map(({ name }) => name).filter((name) => !users.split(", ").includes(name));
  return lacking.length === 1 ? `All but ${lacking}` : users;
}

function changeOf({ local, secrecy, audience = "operator", reload, guarded }: PropertyDeclaration): string {
  if (secrecy === "secret") return "secret";
  const readers = audience === "operator" ? [] : [audience];
  const isUsual = secrecy === (audience === "operator" ? "internal" : "public");
  return [
    local ? "local" : reload,
    ...(guarded ? ["guarded"] : []),
    ...readers,
    ...(isUsual ? [] : [secrecy === "public" ? "public class" : secrecy]),
  ].join(", ");
}

/** Describes the type, the default, and the bounds of a value, including the rules between properties. */
function boundsOf(declaration: PropertyDeclaration): string {
  const { type, unit, choices, min, max, pattern, maxLength, minItems, maxItems, atMost, oneOf } = declaration;
  const range = min === undefined && max === undefined ? [] : [`${min ?? "…"}–${max ?? "…"}`];
  const rules = Object.entries({ minItems, maxItems, maxLength, atMost, oneOf }).flatMap(([rule, value]) =>
    value === undefined ? [] : [`${rule} ${value}`],
  );
  const kind = choices ? choices.map((choice) => `\`${choice}\``).join(", ") : (unit ?? type);
  return [
    declaration.required ? `${kind}, required` : defaultOf(declaration, kind),
    ...range,
    ...rules,
    ...(pattern ? [`\`${pattern}\``] : []),
  ].join("; ");
}

/** Describes a default with what it leaves open: the choices, the unit, or the type of a null. */
function defaultOf({ unit, choices, default: standard }: PropertyDeclaration, kind: string): string {
  const value = `\`${JSON.stringify(standard)}\``;
  if (choices) return `${value} of ${kind}`;
  return unit === undefined && standard !== null ? value : `${value} ${kind}`;
}

/** Checks that the defaults keep the rules between properties. */
function assertRules(services: readonly PackageProperties[]): void {
  for (const { name, properties } of services) {
    const [broken] = brokenRules(properties, (property) => properties[property]?.default ?? null);
    if (broken) throw new Error(`The default of ${broken.property} in ${name} must be ${broken.expected}.`);
  }
}

const start = "<!-- properties:start -->";
const end = "<!-- properties:end -->";
const reference = "../../docs/reference/properties.md";

/** The lists of properties between the two marks in the README of each library and service. */
export const propertyLists: Generator = {
  name: "property lists",
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
