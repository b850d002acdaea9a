import ts from "typescript";
import { handWritten, type Module, type Repository } from "./structure/modules.ts";

/** The names of the properties that a library or a service declares or takes over. */
export interface DeclaredProperties {
  /** `libs/http`, `services/images`. */
  readonly folder: string;
  readonly names: readonly string[];
}

/** Properties with an effect although no code reads them by name, with their reason. */
const exceptions: Readonly<Record<string, string>> = {
  "management.endpoint.env.keys-to-sanitize": "libs/config reads it through the constant `sanitizeProperty`.",
  "console.links.dashboards": "The console reads it through the graph.",
  "console.links.trace": "The console reads it through the graph.",
  "features.reports": "Only announced: clients adapt to it.",
};

/**
 * Finds declared properties that nothing reads: they are accepted, shown, and have no effect. A library's property may
 * be read in any library or service; a service's own, in that service or a library. An exception that is read after
 * all, or no longer declared, is reported too.
 */
export function unreadProperties(declared: readonly DeclaredProperties[], repository: Repository): string[] {
  const reads = handWritten(repository).filter(isProduction).flatMap(readsOf);
  const ofLibraries = new Set(declared.filter(({ folder }) => isLibrary(folder)).flatMap(({ names }) => names));
  const own = declared.flatMap(({ folder, names }) =>
    names
      .filter((name) => isLibrary(folder) || !ofLibraries.has(name))
      .map((name) => ({
        folder,
        name,
        isRead: reads.some((read) => mayRead(read, folder) && read.pattern.test(name)),
      })),
  );
  const excepted = Object.keys(exceptions).flatMap((name) => {
    const places = own.filter((property) => property.name === name);
    if (places.length === 0) return [`${name}: the exception in infra/tasks/property-reads.ts names no property`];
    return places.every(({ isRead }) => isRead)
      ? [`${name}: is read, so the exception in infra/tasks/property-reads.ts can go`]
      : [];
  });
  const unread = own.filter(({ name, isRead }) => !isRead && !(name in exceptions));
  return [...unread.map(({ folder, name }) => `${folder}: ${name} is declared, and no code reads it`), ...excepted];
}

interface Read {
  readonly folder: string;
  readonly pattern: RegExp;
}

/** Finds `configuration.get("x")` and `onChange("x", …)`, with a template's `${…}` for any text without a dot. */
function readsOf(module: Module): Read[] {
  const patterns: RegExp[] = [];
  const literals: string[] = [];
  let readsFromTable = false;
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node)) literals.push(node.text);
    const name = nameAskedFor(node);
    if (name && ts.isStringLiteralLike(name)) patterns.push(exactly(name.text));
    else if (name && ts.isTemplateExpression(name)) patterns.push(patternOf(name));
    else if (name && ts.isIdentifier(name)) readsFromTable = true;
    ts.forEachChild(node, visit);
  };
  visit(module.ast);
  // A file that reads by a variable takes the names from a table in the same file.
  if (readsFromTable) patterns.push(...literals.filter((text) => /^[a-z][\w-]*(\.[\w-]+)+$/.test(text)).map(exactly));
  return patterns.map((pattern) => ({ folder: module.folder, pattern }));
}

/** Returns the first argument of `x.get(…)` and `x.onChange(…)`. */
function nameAskedFor(node: ts.Node): ts.Expression | undefined {
  const isAsking =
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    (node.expression.name.text === "get" || node.expression.name.text === "onChange");
  return isAsking ? node.arguments[0] : undefined;
}

function patternOf({ head, templateSpans }: ts.TemplateExpression): RegExp {
  const rest = templateSpans.map(({ literal }) => `[^.]+${escaped(literal.text)}`);
  return new RegExp(`^${escaped(head.text)}${rest.join("")}$`);
}

function exactly(name: string): RegExp {
  return new RegExp(`^${escaped(name)}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w-]/g, "\\$&");
}

function mayRead(read: Read, folder: string): boolean {
  return isLibrary(folder) || isLibrary(read.folder) || read.folder === folder;
}

function isProduction({ path }: Module): boolean {
  return /^(libs|services)\//.test(path) && !/\/src\/(published-)?properties\.ts$/.test(path);
}

function isLibrary(folder: string): boolean {
  return folder.startsWith("libs/");
}
