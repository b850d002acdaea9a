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

export type PlanAnswer =
  | { readonly id: number; readonly plan: QueryPlan }
  | { readonly id: number; readonly fault: string };
