import { doorsOf, exportsOf, handWritten, type Module, type Repository } from "./modules.ts";

const sliverLines = 25;

/**
 * Files of a few lines that exactly one other file imports: they belong into it. A short file is right where a program begins,
 * for what a package shows at its door, for what is loaded only when it is needed, and for a rule with a test of its own.
 */
export function slivers(repository: Repository): Module[] {
  const doors = doorsOf(repository);
  const modules = handWritten(repository);
  const importers = new Map<string, Set<string>>();
  const apart = new Set(doors);
  for (const { path, imports } of modules) {
    for (const { target, form } of imports) {
      if (target === null) continue;
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
      if (form === "dynamic" || (form === "re-export" && doors.has(path))) apart.add(target);
    }
  }
  const paths = new Set(repository.modules.map(({ path }) => path));
  const hasTest = (path: string) => paths.has(path.replace(/\.ts$/, ".test.ts"));
  return modules
    .filter(({ lines }) => lines < sliverLines)
    .filter(({ path }) => !apart.has(path) && !hasTest(path) && !/\/(main|index)\.ts$/.test(path))
    .filter(({ path }) => importers.get(path)?.size === 1);
}

/**
 * Names that a library shows at a door and that no other package imports. A door may be a room as well, as `properties.ts`
 * is: what is declared there may also be for the library's own files.
 */
export function unusedExports(repository: Repository): Array<{ path: string; name: string }> {
  const takers = new Map<string, Set<string>>();
  for (const { folder, imports } of repository.modules) {
    for (const { target, names, form } of imports) {
      for (const name of names) {
        const key = `${target} ${name}`;
        takers.set(key, (takers.get(key) ?? new Set()).add(form === "re-export" ? `${folder} again` : folder));
      }
    }
  }
  return libraryDoors(repository).flatMap(({ path, folder, ...door }) =>
    exportsOf({ path, folder, ...door }, repository)
      .filter(({ name, from }) => {
        const by = new Set([...(takers.get(`${path} ${name}`) ?? []), ...(takers.get(`${path} *`) ?? [])]);
        by.delete(`${folder} again`);
        if (from !== null) by.delete(folder);
        return by.size === 0;
      })
      .map(({ name }) => ({ path, name })),
  );
}

/** Names that the doors of two libraries give to two values of their own. */
export function namesOfTwo(repository: Repository): Array<{ name: string; paths: string[] }> {
  const owners = new Map<string, Set<string>>();
  for (const door of libraryDoors(repository)) {
    for (const { name, isType, from } of exportsOf(door, repository)) {
      const isOwn = from === null || from.startsWith(`${door.folder}/`);
      if (!isType && isOwn) owners.set(name, (owners.get(name) ?? new Set()).add(door.folder));
    }
  }
  return [...owners]
    .filter(([, folders]) => folders.size > 1)
    .map(([name, folders]) => ({ name, paths: [...folders] }));
}

/**
 * Values that two files export under one name. Files at the same place of two packages play the same part, and so may share
 * its name. Printed, not held: two names can be one word with one meaning, and only a reader knows.
 */
export function namesOfTwoFiles(repository: Repository): Array<{ name: string; paths: string[] }> {
  const owners = new Map<string, Map<string, string>>();
  for (const module of handWritten(repository)) {
    for (const { name, isType, from } of exportsOf(module, repository)) {
      if (isType || from !== null) continue;
      const place = module.path.slice(module.folder.length);
      owners.set(name, (owners.get(name) ?? new Map()).set(place, module.path));
    }
  }
  return [...owners]
    .filter(([, places]) => places.size > 1)
    .map(([name, places]) => ({ name, paths: [...places.values()] }));
}

function libraryDoors(repository: Repository): Module[] {
  const doors = doorsOf(repository);
  return repository.modules.filter(({ path }) => path.startsWith("libs/") && doors.has(path));
}

/** Groups of modules of one package that need each other, by imports of types as well; each begins where its path is least. */
export function circles(repository: Repository): string[][] {
  const modules = handWritten(repository);
  const folders = new Map(modules.map(({ path, folder }) => [path, folder]));
  const next = new Map(
    modules.map(({ path, folder, imports }) => [
      path,
      imports.flatMap(({ target }) => (target !== null && folders.get(target) === folder ? [target] : [])),
    ]),
  );
  const reachable = new Map(modules.map(({ path }) => [path, reachableFrom(path, next)]));
  const seen = new Set<string>();
  return modules
    .map(({ path }) => path)
    .sort()
    .flatMap((path) => {
      if (seen.has(path) || !reachable.get(path)?.has(path)) return [];
      const group = [...(reachable.get(path) ?? [])].filter((other) => reachable.get(other)?.has(path)).sort();
      for (const other of group) seen.add(other);
      return [shortestCircle(path, next)];
    });
}

function reachableFrom(start: string, next: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>();
  const waiting = [...(next.get(start) ?? [])];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    waiting.push(...(next.get(path) ?? []));
  }
  return found;
}

function shortestCircle(start: string, next: ReadonlyMap<string, readonly string[]>): string[] {
  const waiting = [[start]];
  const seen = new Set<string>();
  for (let way = waiting.shift(); way !== undefined; way = waiting.shift()) {
    for (const path of next.get(way.at(-1) ?? start) ?? []) {
      if (path === start) return way;
      if (seen.has(path)) continue;
      seen.add(path);
      waiting.push([...way, path]);
    }
  }
  return [start];
}
