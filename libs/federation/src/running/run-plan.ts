import type { GraphQLFormattedError } from "graphql";
import type { Aliases, CompiledPlan, FetchStep, PlanStep } from "../planning/compiled-query-plan.ts";
import {
  hostOf,
  isObject,
  linkName,
  listOf,
  type Part,
  type Parts,
  type PlanScope,
  readItems,
} from "../planning/plan-scope.ts";
import { type Representation, TakenRepresentations } from "../planning/representation.ts";
import { ErrorMarks, Missing, type Path } from "../subgraphs/missing.ts";
import { areErrors, type Loss, type SendToSubgraph, type SubgraphAnswer } from "../subgraphs/subgraph-port.ts";
import { type Batch, EntityLoader, type Slot } from "./entity-loader.ts";

/** The linked results of a request's fetches. */
export interface Fetched {
  /**
   * The root of the answer. The result of a fetch is linked to the object it was made for, under the fetch's number.
   */
  readonly root: object;
  readonly marks: ErrorMarks;
  /** Errors without a path. */
  readonly errors: GraphQLFormattedError[];
}

interface Request<Context> {
  readonly plan: CompiledPlan;
  /** The values of the operation's variables, as JSON. */
  readonly variableTexts: ReadonlyMap<string, string>;
  readonly send: SendToSubgraph<Context>;
  readonly context: Context;
}

export async function runPlan<Context>(request: Request<Context>): Promise<Fetched> {
  const run = new PlanRun(request);
  if (request.plan.step) await run.step(request.plan.step);
  return run;
}

/** An object for which a fetch is made. */
type Host = Record<string, unknown>;

class PlanRun<Context> implements Fetched {
  readonly root: Record<string, unknown> = {};
  readonly marks = new ErrorMarks();
  readonly errors: GraphQLFormattedError[] = [];
  readonly #request: Request<Context>;
  readonly #loader = new EntityLoader();
  /** Batches whose errors were reported. */
  readonly #reported = new Set<Batch>();

  constructor(request: Request<Context>) {
    this.#request = request;
  }

  async step(step: PlanStep): Promise<void> {
    if (step.kind === "fetch") return this.#fetch(step);
    if (step.kind === "parallel") return void (await Promise.all(step.steps.map((inner) => this.step(inner))));
    for (const inner of step.steps) await this.step(inner);
  }

  async #fetch(step: FetchStep): Promise<void> {
    if (step.representation) await this.#fetchEntities(step, step.representation);
    else await this.#fetchOnce(step);
    if (step.isMutation) this.#loader.forget();
  }

  /** Sends one fetch that starts at the root; its one answer is shared by all objects of its path. */
  async #fetchOnce(step: FetchStep): Promise<void> {
    const hosts: Host[] = [];
    this.#eachHost(step, (host) => hosts.push(host));
    if (hosts.length === 0) return;
    const answer = await this.#send(step, `${this.#question(step).replace(/,$/, "")}}}`);
    const link = linkName(step.index);
    const read = this.#placed(step, readAnswer(answer, step.subgraph));
    for (const host of hosts) {
      host[link] = read.data ?? new Missing(read.loss);
      for (const { error, path } of read.errors) this.marks.markBelow(host, link, path, error);
    }
    this.errors.push(...read.withoutPath);
  }

  async #fetchEntities(step: FetchStep, representation: Representation): Promise<void> {
    const { hosts, slots } = this.#ask(step, representation);
    const link = linkName(step.index);
    const answers = new Map<Batch, EntityAnswer>();
    for (const { batch } of slots) {
      if (answers.has(batch)) continue;
      const answer = this.#placed(step, readEntities(await batch.answer, step.subgraph, batch.texts.length));
      this.#markOnce(batch, answer);
      answers.set(batch, answer);
    }
    for (let index = 0; index < hosts.length; index++) {
      const { batch, at } = slots[index] as Slot;
      this.#link(hosts[index] as Host, link, at, answers.get(batch) as EntityAnswer);
    }
  }

  /**
   * Requests the entity of each object of the fetch. Only the result is kept while the subgraph answers: data that
   * lives that long is costly to collect.
   */
  #ask(step: FetchStep, representation: Representation): { hosts: Host[]; slots: Slot[] } {
    const link = linkName(step.index);
    const scope = this.#scopeOf(step);
    const taken = new TakenRepresentations(
      this.#loader.ask(this.#question(step), step, (body) => this.#send(step, body)),
    );
    const hosts: Host[] = [];
    const slots: Slot[] = [];
    this.#eachHost(step, (host, parts) => {
      const slot = representation.write(scope, parts, taken);
      if (slot !== null) {
        hosts.push(host);
        slots.push(slot);
        return;
      }
      // The member needed for the representation was lost earlier.
      const cause = representation.partsNeeded(scope, parts).find((part) => part instanceof Missing);
      if (cause) host[link] = cause;
    });
    return { hosts, slots };
  }

  /** Marks a subgraph's errors on the members of entities, once per entity even if it is linked several times. */
  #markOnce(batch: Batch, { entities, errors, withoutPath }: EntityAnswer): void {
    if (this.#reported.has(batch)) return;
    this.#reported.add(batch);
    this.errors.push(...withoutPath);
    for (const { error, path } of errors) {
      const [at, member, ...rest] = path;
      const entity = entities?.[Number(at)];
      if (isObject(entity) && member !== undefined) this.marks.markBelow(entity, member, rest, error);
    }
  }

  #link(host: Host, link: string, at: number, { entities, errors, withoutPath, loss }: EntityAnswer): void {
    const entity = entities?.[at] ?? null;
    if (entity !== null && errors.length === 0) {
      host[link] = entity;
      return;
    }
    const own = errors.filter(({ path }) => path[0] === at);
    const isReported = own.length > 0 || withoutPath.length > 0;
    host[link] = entity ?? (loss || isReported ? new Missing(loss) : null);
    for (const { error, path } of own) {
      const isOfMember = isObject(entity) && path.length > 1;
      if (!isOfMember) this.marks.mark(host, link, { error, rest: path.slice(1) });
    }
  }

  /** Finds the objects of a fetch; each is requested once, even if it stands in several places. */
  #eachHost({ path, index }: FetchStep, visit: Search["visit"]): void {
    const { root: scope } = this.#request.plan;
    search(scope, scope.rootParts(this.root), this.root, 0, { path, link: linkName(index), visit });
  }

  #scopeOf({ path }: FetchStep): PlanScope {
    return path.reduce((above, name) => above.belowField(name), this.#request.plan.root);
  }

  /** Takes the path from an error whose path names no field of the fetch: its error is one of the whole operation. */
  #placed<Read extends Omit<ReadAnswer, "data">>(step: FetchStep, read: Read): Read {
    if (read.errors.length === 0) return read;
    const scope = this.#scopeOf(step);
    const byPlace = Map.groupBy(read.errors, ({ path }) => scope.has(path));
    const lost = (byPlace.get(false) ?? []).map(({ error }) => pathless(error));
    return { ...read, errors: byPlace.get(true) ?? [], withoutPath: [...read.withoutPath, ...lost] };
  }

  #question({ bodyStart, variableNames }: FetchStep): string {
    let question = bodyStart;
    for (const name of variableNames) {
      const text = this.#request.variableTexts.get(name);
      if (text !== undefined) question += `"${name}":${text},`;
    }
    return question;
  }

  async #send({ subgraph, isMutation, aliases }: FetchStep, body: string): Promise<SubgraphAnswer> {
    const { send, context } = this.#request;
    const answer = await send({ subgraph, body, isMutation, context });
    return aliases.size === 0 ? answer : withResponseNames(answer, aliases);
  }
}

/** Returns the answer with the response names in place of the aliases, in the paths of its errors too. */
function withResponseNames(answer: SubgraphAnswer, aliases: Aliases): SubgraphAnswer {
  if ("loss" in answer) return answer;
  const named = <T>(name: T) => aliases.get(name as string) ?? name;
  const rename = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rename);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [named(name), rename(member)]));
  };
  const { errors = [] } = answer;
  if (!areErrors(errors)) return answer;
  const ofNames = errors.map((error) => (error.path ? { ...error, path: error.path.map(named) } : error));
  return { ...answer, data: rename(answer.data) as typeof answer.data, errors: ofNames };
}

interface Search {
  readonly path: readonly string[];
  readonly link: string;
  readonly visit: (host: Host, parts: Parts) => void;
}

function search(scope: PlanScope, parts: Parts, host: Host, depth: number, sought: Search): void {
  const name = sought.path[depth];
  if (name !== undefined) {
    const below = scope.belowField(name);
    searchItems(below, below.readOwnBases(parts), depth + 1, sought);
    return;
  }
  // The link also marks visited objects: a map of objects would have to give each an identity first.
  if (host[sought.link] !== undefined) return;
  host[sought.link] = null;
  sought.visit(host, parts);
}

function searchItems(scope: PlanScope, bases: Part[], depth: number, sought: Search): void {
  const list = listOf(bases);
  if (list) {
    // One list serves all items, because callers do not keep it.
    const items: Part[] = bases.map(() => undefined);
    for (let at = 0; at < list.length; at++) {
      readItems(bases, at, items);
      searchItems(scope, items, depth, sought);
    }
    return;
  }
  const host = hostOf(bases);
  if (isObject(host)) search(scope, scope.withLinks(bases), host, depth, sought);
}

interface ReadAnswer {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly { readonly error: GraphQLFormattedError; readonly path: Path }[];
  /** Errors without a path. */
  readonly withoutPath: readonly GraphQLFormattedError[];
  readonly loss: Loss | null;
}

function readAnswer(answer: SubgraphAnswer, subgraph: string): ReadAnswer {
  if ("loss" in answer) return { data: null, errors: [], withoutPath: [], loss: answer.loss };
  const all: unknown = answer.errors ?? [];
  if (!areErrors(all)) {
    const reason = "the errors of a fetch are not a list of errors";
    return { data: null, errors: [], withoutPath: [], loss: { code: "INTERNAL", subgraph, reason } };
  }
  const errors = all.flatMap((error) => (error.path?.length ? [{ error, path: error.path }] : []));
  const withoutPath = all.filter(({ path }) => !path?.length);
  if (isObject(answer.data)) return { data: answer.data, errors, withoutPath, loss: null };
  // Without data the subgraph reports the failure of the whole fetch once.
  const loss: Loss | null = all.length > 0 ? null : { code: "INTERNAL", subgraph, reason: "a fetch returned no data" };
  return { data: null, errors, withoutPath, loss };
}

const isIndex = (at: unknown, count: number): boolean => typeof at === "number" && at >= 0 && at < count;

const pathless = ({ path: _path, ...error }: GraphQLFormattedError): GraphQLFormattedError => error;

interface EntityAnswer extends Omit<ReadAnswer, "data"> {
  readonly entities: readonly unknown[] | null;
}

function readEntities(answer: SubgraphAnswer, subgraph: string, count: number): EntityAnswer {
  const { data, errors, withoutPath, loss } = readAnswer(answer, subgraph);
  const byPlace = Map.groupBy(errors, ({ path: [name, at] }) => name === "_entities" && isIndex(at, count));
  const below = (byPlace.get(true) ?? []).map(({ error, path }) => ({ error, path: path.slice(1) }));
  const others = (byPlace.get(false) ?? []).map(({ error }) => pathless(error));
  const entities = data?._entities;
  const sorted = { errors: below, withoutPath: [...withoutPath, ...others] };
  if (Array.isArray(entities) && entities.length === count) return { ...sorted, entities, loss: null };
  const isReported = sorted.errors.length + sorted.withoutPath.length > 0;
  const reason = "a fetch returned no list of its entities";
  const fault: Loss | null = loss ?? (isReported ? null : { code: "INTERNAL", subgraph, reason });
  return { ...sorted, entities: null, loss: fault };
}
