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
import { requiredFields } from "./documents/canonical-operation.ts";
import { createPlanStore } from "./planning/plan-store.ts";
import { openPlanner, PlanRefused } from "./planning/planner.ts";
import { createPreparation } from "./prepared-operations.ts";
import { runPlan } from "./running/run-plan.ts";
import type { SendToSubgraph } from "./running/subgraph-port.ts";
import { Answer } from "./writing/answer.ts";
import { createIntrospection } from "./writing/introspection.ts";

export interface ExecutorOptions<Context> {
  readonly supergraphSdl: string;
  readonly send: SendToSubgraph<Context>;
  /** Processor time that planning one operation may take. */
  readonly planMsMax: number;
  /** How much memory plans may take, and as much again the operations that were prepared from them. */
  readonly planBytesMax: number;
}

/** A valid operation, as a client sent it. */
interface Execution<Context> {
  /** The text of the document, by which it is known again. */
  readonly text: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** As the client sent them, checked. */
  readonly variables: Variables;
  /** Handed to `send` with each fetch. What ends an operation early, ends its fetches there. */
  readonly context: Context;
}

/** The answer to an operation. */
export interface Executed {
  /** JSON of `data`. */
  readonly data: string;
  /** With the client's paths. Those that a loss made have it in `extensions.loss`. */
  readonly errors: readonly GraphQLFormattedError[];
  /** How many objects there are in the data. */
  readonly objects: number;
  /** The subgraphs that sent what their schema does not allow. */
  readonly flawedSubgraphs: readonly string[];
}

/** What another executor has to run, and why. */
interface Uncovered {
  readonly uncovered: string;
}

export interface Executor<Context> {
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  /** Runs an operation. What it cannot run it says before anything is sent. */
  execute(execution: Execution<Context>): Promise<Executed | Uncovered>;
  /** Plans an operation, so that the first one who asks does not wait. */
  prepare(execution: Pick<Execution<Context>, "text" | "document" | "operation" | "variables">): Promise<void>;
  close(): Promise<void>;
}

const waitingMax = 200;

/** Opens an executor for a supergraph. It never changes: another supergraph is another executor. */
export async function openExecutor<Context>(options: ExecutorOptions<Context>): Promise<Executor<Context>> {
  const { supergraphSdl, send, planMsMax, planBytesMax } = options;
  const planner = await openPlanner(supergraphSdl, { planMsMax, waitingMax });
  const schema = buildSchema(planner.apiSchemaSdl, { assumeValid: true, noLocation: true });
  const supergraph = buildASTSchema(parse(supergraphSdl, { noLocation: true }), { assumeValid: true });
  const prepare = createPreparation({
    ...{ schema, supergraph, reserved: requiredFields(supergraphSdl) },
    planOf: createPlanStore(planner, supergraph, planBytesMax),
    bytesMax: planBytesMax,
  });

  return {
    schema,
    async execute({ text, document, operation, variables, context }) {
      const refused = (error: unknown): Executed => refusalOf(error);
      const prepared = await prepare(text, document, operation, variables).catch(refused);
      if ("errors" in prepared) return prepared;
      const { canonical, plan, writer } = prepared;
      if (!writer) return { uncovered: plan.uncovered ?? "" };
      const texts = variableTexts(canonical.variables, operation, variables);
      const fetched = await runPlan({ plan, variableTexts: texts, send, context });
      const answer = new Answer(fetched.marks, createIntrospection(schema, document, operation, variables));
      writer.tellErrors(answer, [fetched.root], writer.typeName);
      const isThere = writer.write(answer, plan.root.rootParts(fetched.root));
      if (!isThere) answer.absorb(0);
      const errors = [...fetched.errors, ...answer.errors];
      const data = isThere ? answer.text.toString() : "null";
      return { data, errors, objects: answer.objects, flawedSubgraphs: answer.flawedSubgraphs };
    },
    async prepare({ text, document, operation, variables }) {
      await prepare(text, document, operation, variables);
    },
    close: () => planner.close(),
  };
}

/** An operation that is not planned was not run at all. */
function refusalOf(error: unknown): Executed {
  if (!(error instanceof PlanRefused)) throw error;
  const { message, code } = error;
  const extensions = { code, ...(code === "UNAVAILABLE" && { retryAfterSeconds: 2 }) };
  return { data: "null", errors: [{ message, extensions }], objects: 0, flawedSubgraphs: [] };
}
