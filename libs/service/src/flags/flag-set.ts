import type { FlagDefinition } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import { attributeOf } from "./attribute-condition.ts";
import { type CompiledFlag, compileFlag, type EvaluateOther } from "./compile-flag.ts";
import type { FlagContext, FlagEvaluation } from "./flag-context.ts";

const dayMs = hours(24);

/** The current flags, ready for evaluation in process. An evaluation never throws. */
export class FlagSet {
  readonly #flags = new Map<string, CompiledFlag>();
  readonly #revisions = new Map<string, number>();
  #keys: readonly string[] = [];
  /** Results of flags with prerequisites in the evaluation under way: each is evaluated once, on however many paths. */
  readonly #results = new Map<string, FlagEvaluation>();
  #revision = 0;
  #times: readonly number[] = [];
  #countsDays = false;
  #attributeNames: readonly string[] = [];

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
    const rules = definitions.flatMap((flag) => flag.rules);
    const names = rules.flatMap(({ attributes = [], by }) => [...attributes.map(({ name }) => name), by ?? []].flat());
    this.#attributeNames = [...new Set(names)].sort();
    return true;
  }

  definitions(): FlagDefinition[] {
    return [...this.#flags.values()].map(({ definition }) => definition);
  }

  /** Lists every entry, archived ones included, for a copy. */
  entries(): { readonly key: string; readonly definition: FlagDefinition | null; readonly revision: number }[] {
    return [...this.#revisions].map(([key, revision]) => ({
      key,
      revision,
      definition: this.#flags.get(key)?.definition ?? null,
    }));
  }

  evaluate(key: string, context: FlagContext, nowMs: number): FlagEvaluation {
    try {
      return this.#evaluate(key, context, nowMs);
    } finally {
      this.#results.clear();
    }
  }

  /** Evaluates every flag for one account, in the order of their keys. */
  evaluateAll(context: FlagContext, nowMs: number): FlagEvaluation[] {
    try {
      return this.#keys.map((key) => this.#evaluate(key, context, nowMs));
    } finally {
      this.#results.clear();
    }
  }

  /** Returns true for a flag that keys of browsers and apps may evaluate. */
  isForClients(key: string): boolean {
    return this.#flags.get(key)?.definition.client === true;
  }

  /** Lists the attributes of a context that some rule reads: no others can change a result. */
  attributesRead({ attributes }: FlagContext): unknown[] {
    return this.#attributeNames.map((name) => attributeOf(attributes, name) ?? null);
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
    if (flag === undefined) return failedAt(key);
    if (flag.definition.prerequisites.length === 0) return flag.evaluate(context, nowMs, this.#evaluate);
    const known = this.#results.get(key);
    if (known) return known;
    // A loop, created by a race, ends here.
    this.#results.set(key, failedAt(key));
    const result = flag.evaluate(context, nowMs, this.#evaluate);
    this.#results.set(key, result);
    return result;
  };
}

const failedAt = (key: string): FlagEvaluation => ({ key, value: null, json: null, variant: null, reason: "ERROR" });
