import type { GraphQLFormattedError } from "graphql";
import type { CompiledPlan, FetchStep, PlanStep } from "../planning/compiled-plan.ts";
import {
  hostOf,
  isObject,
  itemsAt,
  linkName,
  listOf,
  type Part,
  type Parts,
  type PlanScope,
} from "../planning/plan-scope.ts";
import { WrittenRepresentations } from "../planning/representation.ts";
import { type Batch, EntityLoader } from "./entity-loader.ts";
import { ErrorMarks, Missing, type Path } from "./missing.ts";
import type { Loss, SendToSubgraph, SubgraphAnswer } from "./subgraph-port.ts";

/** All that the fetches of a request brought, linked. */
export interface Fetched {
  /** The root of the answer. What a fetch brought hangs on the object it was made for, under the fetch's number. */
  readonly root: object;
  readonly marks: ErrorMarks;
  /** Errors that say of no field that they are about it. */
  readonly errors: GraphQLFormattedError[];
}

interface Request<Context> {
  readonly plan: CompiledPlan;
  /** The values of the operation's variables, as JSON. */
  readonly variableTexts: ReadonlyMap<string, string>;
  readonly send: SendToSubgraph<Context>;
  readonly context: Context;
}

/** Runs the fetches of a plan. */
export async function runPlan<Context>(request: Request<Context>): Promise<Fetched> {
  const run = new PlanRun(request);
  if (request.plan.step) await run.step(request.plan.step);
  return run;
}

/** An object that a fetch is made for. */
interface Target {
  readonly host: Record<string, unknown>;
  readonly parts: Parts;
}

class PlanRun<Context> implements Fetched {
  readonly root: Record<string, unknown> = {};
  readonly marks = new ErrorMarks();
  readonly errors: GraphQLFormattedError[] = [];
  readonly #request: Request<Context>;
  readonly #loader = new EntityLoader();
  /** Batches whose errors were told. */
  readonly #told = new Set<Batch>();

  constructor(request: Request<Context>) {
    this.#request = request;
  }

  async step(step: PlanStep): Promise<void> {
    if (step.kind === "fetch") return this.#fetch(step);
    if (step.kind === "parallel") return void (await Promise.all(step.steps.map((inner) => this.step(inner))));
    for (const inner of step.steps) await this.step(inner);
  }

  async #fetch(step: FetchStep): Promise<void> {
    const { root: scope } = this.#request.plan;
    const targets = targetsOf(scope, this.root, step);
    if (targets.length === 0) return;
    const target = step.path.reduce<PlanScope>((above, name) => above.belowField(name), scope);
    if (step.representation) await this.#fetchEntities(step, step.representation, target, targets);
    else await this.#fetchOnce(step, targets);
    if (step.isMutation) this.#loader.forget();
  }

  /** One answer, for every object it was asked for. */
  async #fetchOnce(step: FetchStep, targets: readonly Target[]): Promise<void> {
    const answer = await this.#send(step, `${this.#question(step).replace(/,$/, "")}}}`);
    const link = linkName(step.index);
    const read = readAnswer(answer, step.subgraph);
    for (const { host } of targets) {
      host[link] = read.data ?? new Missing(read.loss);
      for (const { error, path } of read.errors) this.marks.markBelow(host, link, path, error);
    }
    this.errors.push(...read.untold);
  }

  async #fetchEntities(
    step: FetchStep,
    representation: NonNullable<FetchStep["representation"]>,
    scope: PlanScope,
    targets: readonly Target[],
  ): Promise<void> {
    const link = linkName(step.index);
    const written = new WrittenRepresentations();
    const hosts: Target["host"][] = [];
    /** Which representation each host was written as. */
    const writtenAt: number[] = [];
    for (const { host, parts } of targets) {
      const at = representation.write(scope, parts, written);
      if (at !== null) {
        hosts.push(host);
        writtenAt.push(at);
        continue;
      }
      // What it would have been asked with was lost before.
      const cause = representation.partsNeeded(scope, parts).find((part) => part instanceof Missing);
      if (cause) host[link] = cause;
    }
    if (hosts.length === 0) return;
    const slots = this.#loader.load(this.#question(step), step, written.texts, (body) => this.#send(step, body));
    const answers = new Map<Batch, EntityAnswer>();
    for (const { batch } of slots) {
      if (answers.has(batch)) continue;
      const answer = readEntities(await batch.answer, step.subgraph, batch.texts.length);
      this.#tellOnce(batch, answer);
      answers.set(batch, answer);
    }
    const found = slots.map(({ batch, at }) => ({ at, answer: answers.get(batch) as EntityAnswer }));
    for (let index = 0; index < hosts.length; index++) {
      const { at, answer } = found[writtenAt[index] as number] as (typeof found)[number];
      this.#link(hosts[index] as Target["host"], link, at, answer);
    }
  }

  /** Marks what a subgraph said of the members of entities, which stand in one place however often they are linked. */
  #tellOnce(batch: Batch, { entities, errors, untold }: EntityAnswer): void {
    if (this.#told.has(batch)) return;
    this.#told.add(batch);
    this.errors.push(...untold);
    for (const { error, path } of errors) {
      const [at, member, ...rest] = path;
      const entity = entities?.[Number(at)];
      if (isObject(entity) && member !== undefined) this.marks.markBelow(entity, member, rest, error);
    }
  }

  #link(
    host: Record<string, unknown>,
    link: string,
    at: number,
    { entities, errors, untold, loss }: EntityAnswer,
  ): void {
    const entity = entities?.[at] ?? null;
    if (entity !== null && errors.length === 0) {
      host[link] = entity;
      return;
    }
    const own = errors.filter(({ path }) => path[0] === at);
    const isTold = own.length > 0 || untold.length > 0;
    host[link] = entity ?? (loss || isTold ? new Missing(loss) : null);
    for (const { error, path } of own) {
      const isOfMember = isObject(entity) && path.length > 1;
      if (!isOfMember) this.marks.mark(host, link, { error, rest: path.slice(1) });
    }
  }

  #question({ bodyStart, variableNames }: FetchStep): string {
    let question = bodyStart;
    for (const name of variableNames) {
      const text = this.#request.variableTexts.get(name);
      if (text !== undefined) question += `"${name}":${text},`;
    }
    return question;
  }

  #send({ subgraph, isMutation }: FetchStep, body: string): Promise<SubgraphAnswer> {
    const { send, context } = this.#request;
    return send({ subgraph, body, isMutation, context });
  }
}

/** Finds the objects that a fetch is made for; each is asked for once, in however many places it stands. */
function targetsOf(scope: PlanScope, root: Record<string, unknown>, { path, index }: FetchStep): Target[] {
  const found: Found = { path, link: linkName(index), targets: [] };
  collect(scope, scope.rootParts(root), root, 0, found);
  return found.targets;
}

interface Found {
  readonly path: readonly string[];
  readonly link: string;
  readonly targets: Target[];
}

function collect(scope: PlanScope, parts: Parts, host: Record<string, unknown>, depth: number, found: Found): void {
  const name = found.path[depth];
  if (name !== undefined) {
    const below = scope.belowField(name);
    collectItems(below, below.readOwnBases(parts), depth + 1, found);
    return;
  }
  // The link is also the mark of what was found before: a map of objects would have to give each an identity first.
  if (host[found.link] !== undefined) return;
  host[found.link] = null;
  found.targets.push({ host, parts });
}

function collectItems(scope: PlanScope, bases: Part[], depth: number, found: Found): void {
  const list = listOf(bases);
  if (list) {
    for (let at = 0; at < list.length; at++) {
      const items = bases.length === 1 ? [list[at]] : itemsAt(bases, at);
      collectItems(scope, items, depth, found);
    }
    return;
  }
  const host = hostOf(bases);
  if (isObject(host)) collect(scope, scope.withLinks(bases), host, depth, found);
}

interface ReadAnswer {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly { readonly error: GraphQLFormattedError; readonly path: Path }[];
  /** Errors without a path. */
  readonly untold: readonly GraphQLFormattedError[];
  readonly loss: Loss | null;
}

function readAnswer(answer: SubgraphAnswer, subgraph: string): ReadAnswer {
  if ("loss" in answer) return { data: null, errors: [], untold: [], loss: answer.loss };
  const all = answer.errors ?? [];
  const errors = all.flatMap((error) => (error.path?.length ? [{ error, path: error.path }] : []));
  const untold = all.filter(({ path }) => !path?.length);
  if (isObject(answer.data)) return { data: answer.data, errors, untold, loss: null };
  // Without data the subgraph says once what it has against the whole fetch.
  const loss: Loss | null = all.length > 0 ? null : { code: "INTERNAL", subgraph, reason: "a fetch gave nothing" };
  return { data: null, errors, untold, loss };
}

interface EntityAnswer extends Omit<ReadAnswer, "data"> {
  readonly entities: readonly unknown[] | null;
}

function readEntities(answer: SubgraphAnswer, subgraph: string, count: number): EntityAnswer {
  const { data, errors, untold, loss } = readAnswer(answer, subgraph);
  const below = errors
    .filter(({ path }) => path[0] === "_entities" && typeof path[1] === "number")
    .map(({ error, path }) => ({ error, path: path.slice(1) }));
  const others = errors.filter(({ path }) => typeof path[1] !== "number").map(({ error }) => error);
  const entities = data?._entities;
  const told = { errors: below, untold: [...untold, ...others.map(({ path: _path, ...error }) => error)] };
  if (Array.isArray(entities) && entities.length === count) return { ...told, entities, loss: null };
  const isTold = told.errors.length + told.untold.length > 0;
  const reason = "a fetch gave no list of its entities";
  const fault: Loss | null = loss ?? (isTold ? null : { code: "INTERNAL", subgraph, reason });
  return { ...told, entities: null, loss: fault };
}
