import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOidcIssuer } from "@signalbox/testing";
import type { Fault } from "./faults/fault.ts";
import { chooseFaults, namedFaults } from "./faults/faults.ts";
import { machineFaults } from "./faults/machine-faults.ts";
import { type Broken, judge } from "./invariants/invariants.ts";
import { createRandom, type Random } from "./random.ts";
import { type Course, type RoundResult, runRound } from "./round.ts";
import { figuresOf, type RoundFigures, unfinished } from "./round-figures.ts";
import { startEmbeddedLedger } from "./systems/embedded.ts";
import { startEnginesLedger } from "./systems/engines.ts";
import type { Mode } from "./systems/ledger-system.ts";
import { createProber } from "./witnesses/prober.ts";
import { createLedgerReceiver } from "./witnesses/receiver.ts";

export interface CourseOptions {
  readonly mode: Mode;
  readonly rounds: number;
  readonly seed: number;
  /** True to omit slow faults. */
  readonly short: boolean;
  /** Number of rounds that an earlier system has run. */
  readonly after?: number;
  /** Only faults whose name contains this text. */
  readonly only?: string | undefined;
  /** True for the faults of machines, one after another. */
  readonly machines?: boolean;
  /** True to keep history and logs of correct rounds as well. */
  readonly keepAll?: boolean;
  readonly print: (line: string) => void;
  /** Called before each round. */
  readonly isOver?: () => boolean;
}

export interface CourseResult {
  readonly figures: readonly RoundFigures[];
  readonly broken: readonly Broken[];
  /** Folder of histories and logs; `null` when all rounds were correct and they were deleted. */
  readonly folder: string | null;
}

/** A round that settles later logs what it waited for: something was retried that should not have failed. */
const longMs = 20_000;

/** Runs one system with one seed, round after round. Ends with the first violation, and keeps its evidence. */
export async function runCourse(options: CourseOptions): Promise<CourseResult> {
  const { mode, seed, after = 0, print } = options;
  const folder = await mkdtemp(join(tmpdir(), `signalbox-ledger-${mode}-${seed}-`));
  await using opened = new AsyncDisposableStack();
  const random = createRandom(String(seed));
  const course = await openCourse(opened, mode, random, folder);
  const figures: RoundFigures[] = [];
  for (const [index, fault] of chosenFaults(options).entries()) {
    if (index < after) continue;
    if (options.isOver?.()) break;
    const name = `s${seed}-${index + 1}`;
    const { result, broken } = await judgedRound(course, fault, name, random.fork(`round ${index}`));
    const figure = result ? figuresOf(fault, result, broken.length) : unfinished(fault);
    figures.push(figure);
    print(`${name} ${describeRound(figure)}`);
    if (result && result.settleMs > longMs) print(`${name} waited for ${lastResidueOf(result)}`);
    if (broken.length > 0) {
      await keep(course, result, broken);
      return { figures, broken, folder };
    }
    if (!options.keepAll) await rm(join(folder, `${name}.history.jsonl`), { force: true });
  }
  if (options.keepAll) {
    await keep(course, null, []);
    return { figures, broken: [], folder };
  }
  await rm(folder, { recursive: true, force: true });
  return { figures, broken: [], folder: null };
}

async function openCourse(opened: AsyncDisposableStack, mode: Mode, random: Random, folder: string): Promise<Course> {
  const issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  const now = () => performance.timeOrigin + performance.now();
  const receiver = await createLedgerReceiver(random.fork("receiver"), now);
  opened.defer(() => receiver.close());
  const system = await (mode === "embedded" ? startEmbeddedLedger : startEnginesLedger)(issuer.issuer);
  opened.defer(() => system.close());
  const newToken = () => {
    const claims = { sub: crypto.randomUUID(), auth_time: Math.floor(Date.now() / 1000) };
    return issuer.sign(claims, { expiresInSeconds: 900 });
  };
  return { system, receiver, folder, newToken, prober: createProber(system), fates: new Map() };
}

/** A round that does not end breaks a promise as well. */
async function judgedRound(
  course: Course,
  fault: Fault,
  name: string,
  random: Random,
): Promise<{ result: RoundResult | null; broken: Broken[] }> {
  try {
    const result = await runRound(course, fault, name, random);
    return { result, broken: judge(result.evidence) };
  } catch (error) {
    const violations = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    return { result: null, broken: [{ invariant: "round-ends", sentence: "A round comes to its end.", violations }] };
  }
}

function chosenFaults({ mode, rounds, seed, short, only, machines = false }: CourseOptions): readonly Fault[] {
  const random = createRandom(`faults of ${seed}`);
  if (only === undefined && !machines) return chooseFaults(mode, rounds, random, { short });
  const among = machines ? machineFaults : namedFaults;
  const named = among.filter(({ name, modes }) => name.includes(only ?? "") && modes.includes(mode));
  if (named.length === 0) throw new Error(`no fault of the mode ${mode} is called ${only}`);
  return Array.from({ length: rounds }, (_, index) => named[index % named.length] as Fault);
}

async function keep({ system, folder }: Course, result: RoundResult | null, broken: readonly Broken[]): Promise<void> {
  await mkdir(join(folder, "logs"), { recursive: true });
  await writeFile(join(folder, "violations.json"), JSON.stringify(broken, null, 1));
  if (result) await writeFile(join(folder, "evidence.json"), JSON.stringify(result.evidence, null, 1));
  for (const { name, output } of system.instances) await writeFile(join(folder, "logs", `${name}.log`), output);
}

/** The last residue to disappear. */
function lastResidueOf({ evidence }: RoundResult): string {
  const left = evidence.operations.filter(({ op, value }) => op === "residue" && Object.keys(value).length > 0);
  return JSON.stringify(left.at(-1)?.value);
}

function describeRound(figures: RoundFigures): string {
  const { fault, acknowledged, records, violations, recoveryMs, settleMs } = figures;
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
  const flow = `${figures.heldUp ?? 0} held up, all runs after ${seconds(figures.undoMs ?? 0)}, events flow after ${seconds(recoveryMs)}, settled after ${seconds(settleMs)}`;
  return `${fault}: ${acknowledged} acknowledged, ${records} records, ${flow}, ${violations} violations`;
}

/** Lists the violated invariants, with some of the places. */
export function describeBroken({ broken, folder }: CourseResult): string {
  const places = broken.map(
    ({ invariant, sentence, violations }) =>
      `${invariant}: ${sentence}\n${violations
        .slice(0, 12)
        .map((violation) => `  ${violation}\n`)
        .join("")}`,
  );
  return `${places.join("")}history and logs are in ${folder}`;
}
