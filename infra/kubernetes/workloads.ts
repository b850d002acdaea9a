import type { ServiceName } from "@signalbox/core";

/** The requirements of a service in a cluster. Its manifests are built from this. */
export interface Workload {
  readonly service: ServiceName;
  /** Memory limit of the container: beyond it, it is killed and restarted. */
  readonly memory: string;
  readonly memoryRequest: string;
  /** Engines that it connects to. */
  readonly engines: readonly EngineRole[];
  /** Services whose internal listener it calls. */
  readonly calls: readonly ServiceName[];
  /** True for connections out of the cluster: webhooks, imports, mails. Never to an internal address. */
  readonly goesOutside: boolean;
  /** True for routes behind the edge; the worker has none. */
  readonly isPublic: boolean;
  readonly replicas: { readonly min: number; readonly max: number };
  /** Scaled by the lag of its consumer instead of by its processor time. */
  readonly scaledBy?: { readonly group: string; readonly topic: string; readonly lag: number };
}

export type EngineRole = "postgres" | "kafka" | "redis" | "blobs";

export const enginePorts: Readonly<Record<EngineRole, readonly number[]>> = {
  postgres: [5432],
  kafka: [9092, 9093],
  redis: [6379],
  blobs: [7070, 443],
};

const usual = { memory: "384Mi", memoryRequest: "192Mi", goesOutside: false, isPublic: true } as const;
const pixels = { memory: "1536Mi", memoryRequest: "384Mi" } as const;
const own = ["postgres", "kafka", "redis"] as const;

export const workloads: readonly Workload[] = [
  {
    ...usual,
    service: "account",
    engines: own,
    goesOutside: true,
    replicas: { min: 2, max: 6 },
    calls: ["images", "webhook-ingest", "webhook-delivery"],
  },
  {
    ...usual,
    ...pixels,
    service: "images",
    goesOutside: true,
    replicas: { min: 2, max: 6 },
    engines: [...own, "blobs"],
    calls: ["account"],
  },
  {
    ...usual,
    ...pixels,
    service: "image-worker",
    engines: ["kafka", "blobs"],
    calls: [],
    isPublic: false,
    replicas: { min: 1, max: 6 },
    scaledBy: { group: "image-worker.jobs", topic: "signalbox.image-render.v1", lag: 20 },
  },
  { ...usual, service: "config", engines: own, calls: ["account"], replicas: { min: 2, max: 3 } },
  {
    ...usual,
    service: "webhook-ingest",
    engines: own,
    calls: ["account"],
    goesOutside: true,
    replicas: { min: 2, max: 6 },
  },
  {
    ...usual,
    service: "webhook-delivery",
    engines: own,
    calls: ["account"],
    goesOutside: true,
    replicas: { min: 2, max: 6 },
    scaledBy: { group: "webhook-delivery.fan-out", topic: "signalbox.image.v1", lag: 500 },
  },
  {
    ...usual,
    service: "gateway",
    engines: ["kafka", "redis"],
    replicas: { min: 2, max: 6 },
    memory: "512Mi", // 5,000 subscriptions and the graph
    calls: ["account", "images", "config", "webhook-ingest", "webhook-delivery"],
  },
];
