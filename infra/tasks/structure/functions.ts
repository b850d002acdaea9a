import ts from "typescript";
import { lineOf, type Module } from "./modules.ts";

/** A function with a body, and its lines from the first to the last; those inside it count for both. */
export interface FunctionSize {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  readonly lines: number;
}

/** The functions of the modules, the longest first: declarations, expressions, arrows, methods, factories. */
export function functionSizes(modules: readonly Module[]): FunctionSize[] {
  return modules.flatMap(functionsOf).sort((a, b) => b.lines - a.lines);
}

function functionsOf(module: Module): FunctionSize[] {
  const found: FunctionSize[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const line = lineOf(module, node);
      const last = module.ast.getLineAndCharacterOfPosition(node.end).line + 1;
      found.push({ path: module.path, line, name: nameOf(node), lines: last - line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(module.ast);
  return found;
}

/** Its own name, or that of what it is given to. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return "constructor";
  const { parent } = node;
  const isGiven = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return isGiven ? parent.name.getText() : "an unnamed function";
}
