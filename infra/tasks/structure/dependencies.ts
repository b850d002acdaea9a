import ts from "typescript";
import { handWritten, lineOf, type Module, type Repository } from "./modules.ts";

/** Names of types that hold what a factory works with. */
const bagName = /(Dependencies|Parts|Api|Fields|Routes)$/;
const factoryName = /^(create|open|start)[A-Z]|^serviceEdges$/;

/** Types of dependencies and factories in services that name more than `max` of them, the widest first. */
export function wideDependencies(repository: Repository, max: number): string[] {
  const namesIn = createMemberNames(repository);
  return handWritten(repository)
    .filter(({ path }) => /^services\/(?!console\/)/.test(path))
    .flatMap((module) =>
      takersOf(module).map(({ name, node, type, taken }) => {
        const count = Math.max(taken, type ? namesIn(type, module).size : 0);
        return { count, place: `${module.path}:${lineOf(module, node)} ${name} (${count} dependencies)` };
      }),
    )
    .filter(({ count }) => count > max)
    .toSorted((a, b) => b.count - a.count)
    .map(({ place }) => place);
}

/** A declaration that names dependencies: in its type, or as the members that it destructures. */
interface Taker {
  readonly name: string;
  readonly node: ts.Node;
  readonly type: ts.TypeNode | ts.InterfaceDeclaration | undefined;
  readonly taken: number;
}

function takersOf({ ast }: Module): Taker[] {
  return ast.statements.flatMap((node): Taker[] => {
    if (ts.isInterfaceDeclaration(node)) return bagName.test(node.name.text) ? [bag(node.name.text, node, node)] : [];
    if (ts.isTypeAliasDeclaration(node))
      return bagName.test(node.name.text) ? [bag(node.name.text, node, node.type)] : [];
    return functionsOf(node)
      .filter(({ name }) => factoryName.test(name))
      .flatMap(({ name, parameters }) => parameters.map((parameter) => ({ name, node, ...widthOf(parameter) })));
  });
}

const bag = (name: string, node: ts.Node, type: Taker["type"]): Taker => ({ name, node, type, taken: 0 });

/** Returns the functions that a statement declares by name. */
function functionsOf(node: ts.Statement): Array<{ name: string; parameters: readonly ts.ParameterDeclaration[] }> {
  if (ts.isFunctionDeclaration(node)) return [{ name: node.name?.text ?? "", parameters: node.parameters }];
  if (!ts.isVariableStatement(node)) return [];
  return node.declarationList.declarations.flatMap(({ name, initializer }) =>
    initializer && ts.isArrowFunction(initializer)
      ? [{ name: name.getText(), parameters: initializer.parameters }]
      : [],
  );
}

const widthOf = ({ name, type }: ts.ParameterDeclaration) => ({
  taken: ts.isObjectBindingPattern(name) ? name.elements.length : 0,
  type: type && ts.isTypeLiteralNode(type) ? type : undefined,
});

type MemberNames = (type: ts.TypeNode | ts.InterfaceDeclaration, module: Module) => Set<string>;

/** Collects the names of a type's members as far as declarations lead; what a call infers has none. */
function createMemberNames({ modules }: Repository): MemberNames {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const namesIn: MemberNames = (type, module) => {
    if (ts.isTypeLiteralNode(type)) return namesOf(type.members);
    if (ts.isIntersectionTypeNode(type)) return union(type.types.map((one) => namesIn(one, module)));
    if (ts.isInterfaceDeclaration(type)) {
      const bases = type.heritageClauses?.flatMap(({ types }) => types) ?? [];
      return union([namesOf(type.members), ...bases.map(({ expression }) => named(expression.getText(), module))]);
    }
    if (!ts.isTypeReferenceNode(type)) return new Set();
    const [first, second] = type.typeArguments ?? [];
    const name = type.typeName.getText();
    if (name === "Pick" && second) return keysOf(second);
    if (name === "Omit" && first && second) return without(namesIn(first, module), keysOf(second));
    if (name === "Readonly" && first) return namesIn(first, module);
    return named(name, module);
  };
  const named = (name: string, module: Module): Set<string> => {
    for (const statement of module.ast.statements) {
      if (ts.isInterfaceDeclaration(statement) && statement.name.text === name) return namesIn(statement, module);
      if (ts.isTypeAliasDeclaration(statement) && statement.name.text === name) return namesIn(statement.type, module);
    }
    const target = module.imports.find(({ names }) => names.includes(name))?.target;
    const owner = target ? byPath.get(target) : undefined;
    return owner && owner !== module ? named(name, owner) : new Set();
  };
  return namesIn;
}

const union = (sets: ReadonlyArray<Set<string>>): Set<string> => new Set(sets.flatMap((set) => [...set]));

const without = (names: Set<string>, others: Set<string>): Set<string> =>
  new Set([...names].filter((name) => !others.has(name)));

const namesOf = (members: ts.NodeArray<ts.TypeElement>): Set<string> =>
  new Set(members.flatMap(({ name }) => (name ? [name.getText()] : [])));

function keysOf(type: ts.TypeNode): Set<string> {
  const keys = ts.isUnionTypeNode(type) ? type.types : [type];
  return new Set(keys.map((key) => key.getText().replaceAll('"', "")));
}
