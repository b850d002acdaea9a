import {
  buildASTSchema,
  buildSchema,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse,
} from "graphql";
import { type Variables, variableTexts } from "./documents/argument-values.ts";
import { takeListSizes } from "./list-sizes.ts";
import { type PlanCaller, PlanStore } from "./planning/plan-store.ts";
import { PlannerThread, PlanRefused } from "./planning/planner.ts";
import { plannerSupergraph } from "./planning/planner-supergraph.ts";
import { requiredFields } from "./planning/required-paths.ts";
import { createPreparation } from "./prepared-operations.ts";
import { runPlan } from "./running/run-plan.ts";
import type { SendToSubgraph } from "./subgraphs/subgraph-port.ts";
import { Answer } from "./writing/answer.ts";
import { createIntrospection } from "./writing/introspection.ts";

export interface ExecutorOptions<Context> {
  readonly supergraphSdl: string;
  readonly send: SendToSubgraph<Context>;
  /** Processor time for planning one operation. */
  readonly planMsMax: number;
  /** Memory of plans in bytes; the operations prepared from them may take as much again. */
  readonly planBytesMax: number;
}

/** A valid operation, as a client sent it. */
interface Execution<Context> {
  /** Text of the document, the key of prepared operations. */
  readonly text: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Validated variables of the client. */
  readonly variables: Variables;
  /** Passed to `send` with each fetch. Aborting an operation aborts its fetches. */
  readonly context: Context;
  /** Waits for and pays a plan that is not known yet. */
  readonly caller: PlanCaller;
}

export interface Executed {
  /** JSON of `data`. */
  readonly data: string;
  /** Errors with the client's paths. Errors of a lost fetch have `extensions.loss`. */
  readonly errors: readonly GraphQLFormattedError[];
  /** Number of objects in the data, without the introspected ones. */
  readonly objects: number;
  readonly introspected: number;
  /** Subgraphs whose answers violated their schema. */
  readonly flawedSubgraphs: readonly string[];
}

export interface Executor<Context> {
  readonly schema: GraphQLSchema;
  execute(execution: Execution<Context>): Promise<Executed>;
  /** Plans an operation in advance, so that its first request does not wait. */
  prepare(execution: Omit<Execution<Context>, "context" | "caller">): Promise<void>;
  close(): Promise<void>;
}

/** Most operations that wait for a plan; beyond it, the last one of the caller with the most of them is refused. */
const waitingMax = 200;
/** The caller of plans made in advance: it has one turn among the others, and pays nothing. */
const ownCaller: PlanCaller = { id: "in advance", admit() {}, charge() {} };

/**
 * Opens an executor for a supergraph. It is immutable: another supergraph needs another executor.
 *
 * @throws Error for a supergraph that cannot be planned right
 */
export async function openExecutor<Context>(options: ExecutorOptions<Context>): Promise<Executor<Context>> {
  const { supergraphSdl, send, planMsMax, planBytesMax } = options;
  const planner = new PlannerThread(plannerSupergraph(supergraphSdl), planMsMax);
  const { apiSchemaSdl } = await planner.start();
  const schema = buildSchema(apiSchemaSdl, { assumeValid: true, noLocation: true });
  const supergraph = buildASTSchema(parse(supergraphSdl, { noLocation: true }), { assumeValid: true });
  takeListSizes(schema, supergraph);
  const plans = new PlanStore(planner, supergraph, planBytesMax, waitingMax);
  const prepare = createPreparation({
    schema,
    supergraph,
    reserved: requiredFields(supergraph),
    plans,
    bytesMax: planBytesMax,
  });

  return {
    schema,
    async execute({ text, document, operation, variables, context, caller }) {
      const refused = (error: unknown): Executed => refusalOf(error);
      const prepared = await prepare(text, document, operation, variables, caller).catch(refused);
      if ("errors" in prepared) return prepared;
      const { canonical, plan, writer } = prepared;
      const texts = variableTexts(canonical.variables, operation, variables);
      const fetched = await runPlan({ plan, variableTexts: texts, send, context });
      const answer = new Answer(fetched.marks, createIntrospection(schema, document, operation, variables));
      writer.reportErrors(answer, [fetched.root], writer.typeName);
      const isThere = writer.write(answer, plan.root.rootParts(fetched.root));
      if (!isThere) answer.absorb(0);
      const errors = [...fetched.errors, ...answer.errors];
      const data = isThere ? answer.text.toString() : "null";
      const { objects, introspected, flawedSubgraphs } = answer;
      return { data, errors, objects, introspected, flawedSubgraphs };
    },
    async prepare({ text, document, operation, variables }) {
      await prepare(text, document, operation, variables, ownCaller);
    },
    async close() {
      plans.close();
      await planner.close();
    },
  };
}

/** An operation without a plan was not run at all. */
function refusalOf(error: unknown): Executed {
  if (!(error instanceof PlanRefused)) throw error;
  const { message, code } = error;
  const extensions = { code, ...(code === "UNAVAILABLE" && { retryAfterSeconds: 2 }) };
  return { data: "null", errors: [{ message, extensions }], objects: 0, introspected: 0, flawedSubgraphs: [] };
}
