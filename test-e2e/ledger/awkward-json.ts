import type { Random } from "./random.ts";

const numbers = ["9007199254740993.0", "1.10", "-0", "820982911946154508", "1e400", "1E+2", "-0.1000000000000000055"];
const texts = ['"\\u0000"', '"\\ud800"', '"\\u0041\\/"', '"é😀"', '"9007199254740993"', "true", "null"];
const names = ["b", "a", "10", "9", "__proto__", "\\u0063", "data", ""];
const spaces = ["", " ", "\n\t", "\r\n"];

/**
 * Writes members that a program which parses and prints JSON would change or refuse, each with a comma before it: large
 * and odd numbers, names in an order of their own, escapes, white space and depth.
 */
export function awkwardMembers(random: Random, depthMax: number): string {
  const space = () => random.pick(spaces);
  const nested = () => {
    const depth = random.between(1, depthMax - 1);
    return `${"[".repeat(depth)}${random.pick(numbers)}${"]".repeat(depth)}`;
  };
  const value = () => random.pick([random.pick(numbers), random.pick(texts), nested()]);
  const order = names.map((name) => [random.next(), name] as const).toSorted(([one], [other]) => one - other);
  return order.map(([, name]) => `${space()},${space()}"${name}"${space()}:${space()}${value()}`).join("");
}
