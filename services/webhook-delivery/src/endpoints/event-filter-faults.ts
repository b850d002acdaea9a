import { isDeepStrictEqual } from "node:util";
import { compileFilter, type EventFilter, type FilterPath, type FilterProblem } from "./event-filter.ts";

/** Finds what no event can match, where a filter is set: a stored one that matches nothing must not be ignored. */
export function impossiblePart(filter: EventFilter, path: FilterPath = []): FilterProblem | null {
  for (const [name, given] of Object.entries(filter)) {
    const place = [...path, name];
    const found =
      name === "any"
        ? firstOf(given as EventFilter[], (one, index) => impossiblePart(one, [...place, index]))
        : name === "not"
          ? null
          : impossiblePath(name, given as Conditions, place);
    if (found) return found;
  }
  return isExcluded(filter)
    ? { path: [...path, "not"], message: "No event that matches the other conditions can match this one." }
    : memberOfScalar(filter, path);
}

/** Returns true when `not` excludes every event that the rest of the filter takes. */
function isExcluded({ not, ...wanted }: EventFilter): boolean {
  const excluded = Object.entries(not ?? {});
  return excluded.length > 0 && excluded.every(([name, given]) => isDeepStrictEqual(wanted[name], given));
}

/** Finds a path that asks for a member of what another path asks to be a text, a number, true, false or null. */
function memberOfScalar(filter: EventFilter, path: FilterPath): FilterProblem | null {
  const paths = Object.entries(filter).filter(([name]) => name !== "any" && name !== "not");
  const scalars = paths.filter(
    ([name, given]) => !name.includes("*") && scalarConditions.some((one) => one in (given as Conditions)),
  );
  const found = paths.find(
    ([name, given]) =>
      Object.keys(given as Conditions).some((one) => !ofMissing.has(one)) &&
      scalars.some(([scalar]) => name.startsWith(`${scalar}.`)),
  );
  return found
    ? { path: [...path, found[0]], message: "Another condition requires a value without members here." }
    : null;
}

type Conditions = Readonly<Record<string, unknown>>;

function firstOf<Item>(items: readonly Item[], find: (item: Item, index: number) => FilterProblem | null) {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found) return found;
  }
  return null;
}

function impossiblePath(name: string, conditions: Conditions, path: FilterPath): FilterProblem | null {
  const plain = name.replaceAll(/\\./gs, "");
  if (/[[\]]/.test(plain)) {
    return {
      path,
      message: "Write `items.0.sku` for one item of a list, `items.*.sku` for any, and `\\[` for a bracket in a name.",
    };
  }
  if (plain.split(".").includes("") && !name.includes("\\")) {
    return {
      path,
      message: "A path consists of names separated by single dots; a dot in a name is `\\.`, in JSON `\\\\.`.",
    };
  }
  if (!contradict(conditions)) return null;
  return { path, message: "No value can match all of these conditions." };
}

/** Conditions that a missing value meets besides `exists: false`. */
const ofMissing = new Set(["exists", "ne"]);

function contradict(conditions: Conditions): boolean {
  if (conditions.exists === false) return Object.keys(conditions).some((name) => !ofMissing.has(name));
  const candidates = "eq" in conditions ? [conditions.eq] : (conditions.in as unknown[] | undefined);
  if (candidates) {
    const test = compileFilter({ value: conditions });
    return typeof test === "function" && !candidates.some((value) => test({ value }));
  }
  return kindsOf(conditions).size > 1 || isEmptyRange(conditions);
}

const bounds = ["gt", "gte", "lt", "lte"] as const;

const scalarConditions = ["eq", "in", "prefix", ...bounds] as const;

/** The kinds of value that the conditions ask for. `contains` with a text fits a text and a list. */
function kindsOf(conditions: Conditions): Set<string> {
  const { contains, prefix } = conditions;
  const ofBounds = bounds.flatMap((name) => (name in conditions ? [typeof conditions[name]] : []));
  const kinds = new Set<string>([...ofBounds, ...(prefix === undefined ? [] : ["string"])]);
  if (contains !== undefined && typeof contains !== "string") kinds.add("list");
  if (typeof contains === "string" && kinds.has("number")) kinds.add("string");
  return kinds;
}

function isEmptyRange(conditions: Conditions): boolean {
  const boundsIn = (...names: (typeof bounds)[number][]) =>
    names.flatMap((name) => (name in conditions ? [[name, conditions[name]] as const] : []));
  return boundsIn("gt", "gte").some(([lower, low]) =>
    boundsIn("lt", "lte").some(([upper, high]) => {
      const isStrict = lower === "gt" || upper === "lt";
      return (low as string) > (high as string) || (low === high && isStrict);
    }),
  );
}
