import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { clientFolder, emitClientTypes, generateClient } from "../../release/pack-client.ts";
import type { Generator } from "../generator.ts";
import { remember } from "../remember.ts";

/** The surface of the client, a line for each member, so that a break is seen in review and by the release. */
export const clientReport: Generator = {
  name: "client report",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    await generateClient();
    const files = (await readdir(join(clientFolder, "src"), { recursive: true })).filter((file) =>
      file.endsWith(".ts"),
    );
    const report = await remember({
      name: "client-report.txt",
      sources: [import.meta.filename],
      inputs: await Promise.all(files.toSorted().map((file) => readFile(join(clientFolder, "src", file), "utf8"))),
      make: async () => reportOf(await readFile(join(clientFolder, "src/generated/api.d.ts"), "utf8")),
    });
    return new Map([["libs/client/api-report.txt", report]]);
  },
};

const doors = { "@signalbox/client": "index", "@signalbox/client/webhooks": "webhooks/index" };

function reportOf(schemas: string): string {
  const declarations = new Map<string, ts.SourceFile>();
  emitClientTypes("/dist", (file, text) => {
    declarations.set(file.slice("/dist/".length, -".d.ts".length), parse(text));
  });
  const shown = Object.entries(doors).flatMap(([title, door]) => {
    const lines = exportsOf(declarations, door).flatMap(([name, module]) => {
      const statement = (declarations.get(module)?.statements ?? []).find((one) => nameOf(one) === name);
      if (!statement) throw new Error(`${module} declares no ${name}`);
      return linesOf(name, statement);
    });
    return [`\n${title}`, ...lines];
  });
  return `${["Surface of the client. Made by `npm run generate`.", ...shown, "\nSchemas", ...schemaLines(schemas)].join("\n")}\n`;
}

const parse = (text: string): ts.SourceFile => ts.createSourceFile("a.d.ts", text, ts.ScriptTarget.ESNext, true);
const nameOf = (node: ts.Node): string | undefined => {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0]?.name.getText();
  return (node as ts.DeclarationStatement).name?.getText();
};

/** The names that a door exports, each with the module that declares it. */
function exportsOf(declarations: ReadonlyMap<string, ts.SourceFile>, door: string): [name: string, module: string][] {
  const found = (declarations.get(door)?.statements ?? []).flatMap((statement) => {
    if (!ts.isExportDeclaration(statement)) return [];
    const { exportClause, moduleSpecifier } = statement;
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return [];
    const module = join(door, "..", moduleSpecifier.text).replace(/\.(js|ts)$/, "");
    if (exportClause && ts.isNamedExports(exportClause))
      return exportClause.elements.map(({ name }) => [name.text, module] as [string, string]);
    // `export type *` of the generated resources: their names stand for schemas, which are listed on their own.
    return [["Resources", module] as [string, string]];
  });
  return found.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function linesOf(name: string, node: ts.Node): string[] {
  if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return [`${name}: ${plain(node)}`];
  const parents = (node.heritageClauses ?? []).map((clause) => `${name}: ${plain(clause)}`);
  const members = [...node.members].filter((member) => !member.name || !ts.isPrivateIdentifier(member.name));
  return [...parents, ...members.flatMap((member) => memberLines(name, member))];
}

/** The lines of a member, one for each of its own where it has members. */
function memberLines(owner: string, member: ts.Node): string[] {
  const type = (member as ts.PropertySignature).type;
  if (!type || !ts.isTypeLiteralNode(type) || type.members.length === 0) return [`${owner}.${plain(member)}`];
  const name = (member as ts.PropertySignature).name.getText();
  return type.members.map((one) => `${owner}.${name}.${plain(one)}`);
}

/** The text of a declaration on one line, without comments. */
function plain(node: ts.Node): string {
  const printer = ts.createPrinter({ removeComments: true });
  const text = printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  return text.replace(/^export (declare )?/, "").replace(/\s+/g, " ");
}

function schemaLines(text: string): string[] {
  const [components] = parse(text)
    .statements.filter(ts.isInterfaceDeclaration)
    .filter(({ name }) => name.text === "components");
  const schemas = components?.members.find((member) => member.name?.getText() === "schemas") as ts.PropertySignature;
  return (schemas.type as ts.TypeLiteralNode).members.flatMap((member) =>
    memberLines("", member).map((line) => line.slice(1)),
  );
}
