/** Conditions on the data of an event, as its owner writes them. */
export type EventFilter = Readonly<Record<string, unknown>>;

export type FilterTest = (data: unknown) => boolean;

/** A place in a filter: names of members, places in lists. */
export type FilterPath = readonly (string | number)[];

export interface FilterProblem {
  readonly path: FilterPath;
  readonly message: string;
}

const conditionsMax = 32;
const bytesMax = 4_096;

type Scalar = string | number | boolean | null;

const isScalar = (value: unknown): value is Scalar =>
  value === null || ["string", "number", "boolean"].includes(typeof value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Compares two numbers or two texts; null for values without an order. */
function order(one: unknown, other: unknown): number | null {
  const comparable =
    (typeof one === "number" && typeof other === "number") || (typeof one === "string" && typeof other === "string");
  if (!comparable) return null;
  return one < other ? -1 : one > other ? 1 : 0;
}

const ordered =
  (holds: (sign: number) => boolean) =>
  (wanted: unknown): FilterTest | string => {
    if (typeof wanted !== "number" && typeof wanted !== "string") return "The operand must be a number or a string.";
    return (value) => {
      const sign = order(value, wanted);
      return sign !== null && holds(sign);
    };
  };
const ofScalar =
  (test: (value: unknown, wanted: Scalar) => boolean) =>
  (wanted: unknown): FilterTest | string =>
    isScalar(wanted) ? (value) => test(value, wanted) : "The operand must be a string, a number, true, false or null.";
const ofText =
  (test: (value: unknown, wanted: string) => boolean) =>
  (wanted: unknown): FilterTest | string =>
    typeof wanted === "string" ? (value) => test(value, wanted) : "The operand must be a string.";

/** Conditions by name. Each turns its operand into a test of the value, or a message about a wrong operand. */
const operators: Readonly<Record<string, (wanted: unknown) => FilterTest | string>> = {
  eq: ofScalar((value, wanted) => value === wanted),
  ne: ofScalar((value, wanted) => value !== wanted),
  gt: ordered((sign) => sign > 0),
  gte: ordered((sign) => sign >= 0),
  lt: ordered((sign) => sign < 0),
  lte: ordered((sign) => sign <= 0),
  in: (wanted) =>
    Array.isArray(wanted) && wanted.length > 0 && wanted.every(isScalar)
      ? (value) => isScalar(value) && wanted.includes(value)
      : "The operand must be a list of strings, numbers, true, false or null.",
  exists: (wanted) =>
    typeof wanted === "boolean" ? (value) => (value !== undefined) === wanted : "The operand must be true or false.",
  prefix: ofText((value, wanted) => typeof value === "string" && value.startsWith(wanted)),
  contains: (wanted) => {
    if (!isScalar(wanted)) return "The operand must be a string, a number, true, false or null.";
    const holds = typeof wanted === "string" ? textSearch(wanted) : () => false;
    return (value) => (typeof value === "string" ? holds(value) : Array.isArray(value) && value.includes(wanted));
  },
};

/** Up to this length the engine's own search takes linear time; a longer text it may compare at every place. */
const engineTextMax = 250;

/** Creates the search for a text, in time linear in what it is searched in (Knuth, Morris and Pratt). */
export function textSearch(wanted: string): (text: string) => boolean {
  if (wanted.length <= engineTextMax) return (text) => text.includes(wanted);
  const shorter = [0];
  const advance = (matched: number, code: number): number => {
    let length = matched;
    while (length > 0 && wanted.charCodeAt(length) !== code) length = shorter[length - 1] ?? 0;
    return wanted.charCodeAt(length) === code ? length + 1 : length;
  };
  for (let at = 1; at < wanted.length; at++) shorter.push(advance(shorter[at - 1] ?? 0, wanted.charCodeAt(at)));
  return (text) => {
    let matched = 0;
    for (let at = 0; at < text.length && matched < wanted.length; at++) matched = advance(matched, text.charCodeAt(at));
    return matched === wanted.length;
  };
}

/**
 * Compiles a filter: every member must match. A member is a path into `data` with its conditions (`{"order.total":
 * {"gte": 100}}`), `any` with a list of filters of which one must match, or `not` with a filter that must not match. In a path
 * `*` is some member of a list, and a backslash makes a dot part of a name. A missing value equals nothing: only `ne`
 * and `exists: false` match it.
 */
export function compileFilter(filter: EventFilter): FilterTest | FilterProblem {
  if (Buffer.byteLength(JSON.stringify(filter)) > bytesMax) {
    return { path: [], message: `A filter has at most ${bytesMax} bytes.` };
  }
  const budget = { left: conditionsMax };
  const tests = testsOf(filter, [], budget);
  if (!Array.isArray(tests)) return tests;
  if (budget.left < 0) return { path: [], message: `A filter has at most ${conditionsMax} conditions.` };
  return all(tests);
}

const all =
  (tests: readonly FilterTest[]): FilterTest =>
  (data) =>
    tests.every((test) => test(data));

interface Budget {
  left: number;
}

function testsOf(filter: unknown, path: FilterPath, budget: Budget): FilterTest[] | FilterProblem {
  if (!isObject(filter) || Object.keys(filter).length === 0) {
    return { path, message: "A filter must be an object with at least one member." };
  }
  const tests: FilterTest[] = [];
  for (const [name, given] of Object.entries(filter)) {
    const found = memberTest(name, given, [...path, name], budget);
    if (typeof found !== "function") return found;
    tests.push(found);
  }
  return tests;
}

function memberTest(name: string, given: unknown, path: FilterPath, budget: Budget): FilterTest | FilterProblem {
  if (name === "any") return anyTest(given, path, budget);
  if (name !== "not") return pathTest(name, given, path, budget);
  const tests = testsOf(given, path, budget);
  if (!Array.isArray(tests)) return tests;
  const test = all(tests);
  return (data) => !test(data);
}

function anyTest(given: unknown, path: FilterPath, budget: Budget): FilterTest | FilterProblem {
  if (!Array.isArray(given) || given.length === 0) return { path, message: "`any` must be a list of filters." };
  const choices: FilterTest[] = [];
  for (const [index, filter] of given.entries()) {
    const tests = testsOf(filter, [...path, index], budget);
    if (!Array.isArray(tests)) return tests;
    choices.push(all(tests));
  }
  return (data) => choices.some((choice) => choice(data));
}

function pathTest(name: string, given: unknown, path: FilterPath, budget: Budget): FilterTest | FilterProblem {
  if (!isObject(given) || Object.keys(given).length === 0) {
    return {
      path,
      message: `A path needs conditions such as {"eq": 1}. Known conditions: ${Object.keys(operators).join(", ")}.`,
    };
  }
  const tests: FilterTest[] = [];
  for (const [operator, wanted] of Object.entries(given)) {
    budget.left--;
    const make = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    const test = make?.(wanted) ?? "Unknown condition.";
    if (typeof test === "string") return { path: [...path, operator], message: test };
    tests.push(test);
  }
  const steps = stepsOf(name);
  const test = all(tests);
  return (data) => someValueAt(data, steps, test);
}

/** A name of a member, or every member of a list. */
type Step = string | typeof everyMember;
const everyMember = Symbol("*");

/** Splits a path at its dots. A backslash makes the dot, `*` or backslash behind it a part of a name. */
function stepsOf(path: string): Step[] {
  const words = path.match(/(?:^|\.)(?:\\.|[^.\\]|\\$)*/gsu) ?? [];
  return words.map((word, index) => {
    const text = index === 0 ? word : word.slice(1);
    return text === "*" ? everyMember : text.replaceAll(/\\([.*\\[\]])/g, "$1");
  });
}

/** Tests the values at a path until one passes; where there is none, that a value is missing. */
function someValueAt(data: unknown, steps: readonly Step[], test: FilterTest): boolean {
  let value = data;
  for (const [index, step] of steps.entries()) {
    if (step === everyMember && Array.isArray(value) && value.length > 0) {
      const rest = steps.slice(index + 1);
      return value.some((member) => someValueAt(member, rest, test));
    }
    const name = step === everyMember ? "*" : step;
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return test(undefined);
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return test(value);
}
