import { posix } from "node:path";
import ts from "typescript";

/** A source file and what it takes from others. */
export interface Module {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly ast: ts.SourceFile;
  /** The folder of its package, as `libs/http`. */
  readonly folder: string;
  readonly imports: readonly Import[];
}

interface Import {
  /** The file it leads to; null outside the repository. */
  readonly target: string | null;
  readonly form: "import" | "re-export" | "dynamic";
  /** The names that an import takes, as the importing file calls them. */
  readonly names: readonly string[];
}

/** A `package.json` of the repository. */
export interface Manifest {
  readonly folder: string;
  readonly name: string;
  /** Paths from the package's folder, by the subpath that leads there. */
  readonly exports: Readonly<Record<string, string>>;
}

export interface Repository {
  readonly modules: readonly Module[];
  readonly manifests: readonly Manifest[];
}

/** Test files, their fixtures, and the two packages that only tests import. */
const tests =
  /^(libs\/testing|test-e2e)\/|\.(test|contract|fixture)\.ts$|\/(contract|crash|test)\/|\/test-[a-z-]+\.ts$/;

/** Reads the sources once for all bars. */
export function readRepository(
  files: ReadonlyArray<{ path: string; text: string }>,
  manifests: readonly Manifest[],
): Repository {
  const modules = files.map(({ path, text }) => {
    const ast = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
    const imports = importsOf(ast).map(({ specifier, ...rest }) => ({
      ...rest,
      target: resolve(path, specifier, manifests),
    }));
    return { path, text, lines: text.trimEnd().split("\n").length, ast, folder: packageFolder(path), imports };
  });
  return { modules, manifests };
}

/** The code that people wrote and that runs in production or in a task. */
export function handWritten({ modules }: Repository): Module[] {
  return modules.filter(({ path }) => !tests.test(path) && !path.endsWith(".d.ts") && !path.includes("/generated/"));
}

/** The files that a package shows to others. */
export function doorsOf({ manifests }: Repository): Set<string> {
  return new Set(
    manifests.flatMap(({ folder, exports }) => Object.values(exports).map((path) => posix.join(folder, path))),
  );
}

/** The first line of a node, for people. */
export function lineOf({ ast }: Module, node: ts.Node): number {
  return ast.getLineAndCharacterOfPosition(node.getStart(ast)).line + 1;
}

/** A value or type that a module exports under `name`. `from` leads on when it is another module's. */
export interface Exported {
  readonly name: string;
  readonly isType: boolean;
  readonly from: string | null;
}

/** The names that a module exports. */
export function exportsOf(module: Module, { modules, manifests }: Repository): Exported[] {
  return module.ast.statements.flatMap((statement): Exported[] => {
    if (!ts.isExportDeclaration(statement)) return declaredNames(statement);
    const from =
      statement.moduleSpecifier && ts.isStringLiteral(statement.moduleSpecifier)
        ? resolve(module.path, statement.moduleSpecifier.text, manifests)
        : null;
    if (statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      return statement.exportClause.elements.map((element) => ({
        name: element.name.text,
        isType: statement.isTypeOnly || element.isTypeOnly,
        from,
      }));
    }
    const target = modules.find(({ path }) => path === from);
    return target ? exportsOf(target, { modules, manifests }).map((exported) => ({ ...exported, from })) : [];
  });
}

function declaredNames(statement: ts.Statement): Exported[] {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (!isExported) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [{ name: name.text, isType: false, from: null }] : [],
    );
  }
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  const isNamed = isType || ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
  return isNamed && statement.name ? [{ name: statement.name.text, isType, from: null }] : [];
}

function importsOf(ast: ts.SourceFile): Array<Omit<Import, "target"> & { specifier: string }> {
  const found: Array<Omit<Import, "target"> & { specifier: string }> = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== null) found.push({ specifier, form: formOf(node), names: namesOf(node) });
    ts.forEachChild(node, visit);
  };
  visit(ast);
  return found;
}

function specifierOf(node: ts.Node): string | null {
  const literal =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
          ? node.argument.literal
          : undefined;
  return literal && ts.isStringLiteral(literal) ? literal.text : null;
}

function formOf(node: ts.Node): Import["form"] {
  if (ts.isExportDeclaration(node)) return "re-export";
  return ts.isCallExpression(node) ? "dynamic" : "import";
}

function namesOf(node: ts.Node): string[] {
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined;
  return bindings && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
}

function resolve(from: string, specifier: string, manifests: readonly Manifest[]): string | null {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
  const owner = manifests.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (!owner) return null;
  const subpath = `.${specifier.slice(owner.name.length)}`;
  return posix.join(owner.folder, owner.exports[subpath] ?? subpath);
}

function packageFolder(path: string): string {
  const [group = "", name = ""] = path.split("/");
  return group === "libs" || group === "services" ? `${group}/${name}` : group;
}
