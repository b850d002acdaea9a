import type { FlagDefinition } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { type CompiledFlag, compileFlag, type EvaluateOther } from "./compile-flag.ts";
import type { FlagContext, FlagEvaluation } from "./flag-context.ts";

/** Deeper than prerequisites can be set: a loop created by a race ends here. */
const depthMax = 20;
const dayMs = hours(24);

/** The current flags, ready for evaluation in process. An evaluation never throws. */
export class FlagSet {
  readonly #flags = new Map<string, CompiledFlag>();
  readonly #revisions = new Map<string, number>();
  #keys: readonly string[] = [];
  #depth = 0;
  #revision = 0;
  #times: readonly number[] = [];
  #countsDays = false;

  /** The newest revision among all flags. */
  get revision(): number {
    return this.#revision;
  }

  /** Sets a flag, or archives it (null). Only a higher revision changes one; returns true when it did. */
  put(key: string, definition: FlagDefinition | null, revision: number): boolean {
    if (revision <= (this.#revisions.get(key) ?? 0)) return false;
    this.#revisions.set(key, revision);
    this.#revision = Math.max(this.#revision, revision);
    if (definition === null) this.#flags.delete(key);
    else this.#flags.set(key, compileFlag(definition));
    this.#keys = [...this.#flags.keys()].sort();
    const definitions = this.definitions();
    const times = definitions.flatMap(({ schedule }) => [schedule?.from, schedule?.until]);
    this.#times = times.flatMap((time) => (time ? [Date.parse(time)] : []));
    this.#countsDays = definitions.some(({ rules }) => rules.some(({ age }) => age !== undefined));
    return true;
  }

  definitions(): FlagDefinition[] {
    return [...this.#flags.values()].map(({ definition }) => definition);
  }

  /** Lists every entry, archived ones included, for a copy. */
  entries(): { readonly key: string; readonly definition: FlagDefinition | null; readonly revision: number }[] {
    return [...this.#revisions].map(([key, revision]) => ({
      ...{ key, revision },
      definition: this.#flags.get(key)?.definition ?? null,
    }));
  }

  evaluate(key: string, context: FlagContext, nowMs: number): FlagEvaluation {
    return this.#evaluate(key, context, nowMs);
  }

  /** Evaluates every flag for one account, in the order of their keys. */
  evaluateAll(context: FlagContext, nowMs: number): FlagEvaluation[] {
    return this.#keys.map((key) => this.#evaluate(key, context, nowMs));
  }

  /** Lists expired flags: a decision about them is due. */
  stale(nowMs: number): string[] {
    const today = new Date(nowMs).toISOString().slice(0, 10);
    return this.definitions()
      .filter(({ expires }) => expires !== null && expires <= today)
      .map(({ key }) => key)
      .sort();
  }

  /**
   * Changes when time alone may change a result: a schedule started or ended, or accounts grew a day older (each
   * account at an hour of its own, so the hours are counted).
   */
  epochAt(nowMs: number): string {
    const passed = this.#times.filter((time) => time <= nowMs).length;
    return this.#countsDays ? `${passed}.${Math.floor(nowMs / (dayMs / 24))}` : `${passed}`;
  }

  readonly #evaluate: EvaluateOther = (key, context, nowMs) => {
    const flag = this.#flags.get(key);
    if (flag === undefined || this.#depth > depthMax) return { key, value: null, variant: null, reason: "ERROR" };
    this.#depth++;
    try {
      return flag.evaluate(context, nowMs, this.#evaluate);
    } finally {
      this.#depth--;
    }
  };
}
