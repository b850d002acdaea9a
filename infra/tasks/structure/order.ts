import { handWritten, type Repository } from "./modules.ts";

/**
 * Imports of a service that run back up: where two of its folders, or a folder and a file beside them, import each
 * other, those of the rarer direction.
 */
export function importsBackUp(repository: Repository, service: string): string[] {
  const root = `services/${service}/src/`;
  const own = handWritten(repository).filter(({ path }) => path.startsWith(root));
  const paths = new Set(own.map(({ path }) => path));
  const unitOf = (path: string): string => {
    const folders = path.slice(root.length).split("/").slice(0, -1);
    return folders.length > 0 ? folders.join("/") : path.slice(root.length);
  };
  const between = new Map<string, Map<string, string[]>>();
  for (const { path, imports } of own) {
    for (const target of new Set(imports.map((one) => one.target))) {
      if (target === null || !paths.has(target) || unitOf(target) === unitOf(path)) continue;
      const from = between.get(unitOf(path)) ?? new Map<string, string[]>();
      between.set(unitOf(path), from);
      from.set(unitOf(target), [...(from.get(unitOf(target)) ?? []), `${path} -> ${target.slice(root.length)}`]);
    }
  }
  return [...between].flatMap(([one, others]) =>
    [...others].flatMap(([other, there]) => {
      const back = one < other ? between.get(other)?.get(one) : undefined;
      if (!back) return [];
      return back.length < there.length ? back : there;
    }),
  );
}
