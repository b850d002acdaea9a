/**
 * Prints the bars of the structure, each with its value, the target and the worst place; fails when one is broken. With
 * paths as arguments it lists every place below them: `npm run structure -- services/images libs/http`.
 */
import { type Bar, measureBars } from "./structure/bars.ts";
import { readSources } from "./structure/read-sources.ts";

const startedMs = performance.now();
const paths = process.argv.slice(2);
const repository = readSources();
const bars = measureBars(repository);
for (const bar of bars) print(bar);
console.log(`${repository.modules.length} files measured in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
process.exitCode = bars.some(isBroken) ? 1 : 0;

function print(bar: Bar): void {
  const { name, figure, max, places } = bar;
  const shown =
    paths.length > 0 ? places.filter((place) => paths.some((path) => place.includes(path))) : places.slice(0, 1);
  console.log(`${isBroken(bar) ? "BROKEN" : "ok    "} ${String(figure).padStart(6)} ${`≤ ${max}`.padEnd(8)} ${name}`);
  for (const place of shown) console.log(`                     ${place}`);
}

function isBroken({ figure, max }: Bar): boolean {
  return figure > max;
}
