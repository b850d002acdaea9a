import type { Principal } from "@signalbox/auth";

/** What travels with one operation to every subgraph it touches. */
export interface OperationContext {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly clientAddress: string;
}
