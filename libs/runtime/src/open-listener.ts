import type { RequestListener } from "node:http";
import type { Runner } from "./runner.ts";
import type { UpgradeListener } from "./service-context.ts";

export interface OpenListener {
  /** Used in names and, with `.port`, as the property to change when the port is taken: `http`, `internal`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly listener: RequestListener;
  readonly upgrade?: UpgradeListener | undefined;
  readonly headerTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly keepAliveTimeoutMs?: number;
  readonly headerBytesMax?: number;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
}

export declare function openListener(runner: Runner, options: OpenListener): Promise<Listener>;
