import type { QueryPlan } from "@apollo/query-planner";

export interface PlanWorkerData {
  readonly supergraphSdl: string;
  readonly evaluatedPlansMax: number;
  readonly pathsMax: number;
}

/** The first message of the thread, once it can plan. */
export interface PlanReady {
  readonly apiSchemaSdl: string;
}

export interface PlanQuestion {
  readonly id: number;
  readonly text: string;
}

/** A plan or the fault of the planner, with the processor time that it took. */
export type PlanAnswer = { readonly id: number; readonly processorMs: number } & (
  | { readonly plan: QueryPlan }
  | { readonly fault: string }
);
