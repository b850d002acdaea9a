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
  /** The reason to connect out of the cluster, null for none. Never to an internal address. */
  readonly outside: string | null;
  /** True for routes behind the edge; the worker has none. */
  readonly isPublic: boolean;
  readonly replicas: { readonly min: number; readonly max: number };
  /** Measures of KEDA, where it is installed: they show harm to callers, and count beside the processor time. */
  readonly scaledBy?: readonly Scaling[];
}

/** A pod more for each `lag` messages behind, or for each `per` of the sum of a query. */
export type Scaling =
  | { readonly group: string; readonly topic: string; readonly lag: number }
  | { readonly query: string; readonly per: number };

/** An engine; the collector takes the traces of every service. */
export type EngineRole = "postgres" | "kafka" | "redis" | "blobs" | "collector";

export const enginePorts: Readonly<Record<EngineRole, readonly number[]>> = {
  postgres: [5432],
  kafka: [9092, 9093],
  redis: [6379],
  blobs: [7070, 443],
  collector: [4318],
};

const usual = { memory: "384Mi", memoryRequest: "192Mi", outside: null, isPublic: true } as const;
const pixels = { memory: "1536Mi", memoryRequest: "384Mi" } as const;
const own = ["postgres", "kafka", "redis"] as const;

export const workloads: readonly Workload[] = [
  {
    ...usual,
    service: "account",
    engines: own,
    outside: "mails, and keys of identity providers",
    replicas: { min: 2, max: 6 },
    calls: ["images", "webhook-ingest", "webhook-delivery"],
  },
  {
    ...usual,
    ...pixels,
    service: "images",
    outside: "imports by URL",
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
    scaledBy: [{ group: "image-worker.jobs", topic: "signalbox.image-render.v1", lag: 20 }],
  },
  { ...usual, service: "config", engines: own, calls: ["account"], replicas: { min: 2, max: 3 } },
  {
    ...usual,
    service: "webhook-ingest",
    engines: own,
    calls: ["account"],
    outside: "keys of senders, and their lists of missed webhooks",
    replicas: { min: 2, max: 6 },
  },
  {
    ...usual,
    service: "webhook-delivery",
    engines: own,
    calls: ["account"],
    outside: "deliveries",
    replicas: { min: 2, max: 6 },
    scaledBy: [
      { query: 'max(signalbox_webhook_due_age_seconds{job="signalbox"})', per: 15 },
      { query: 'max(signalbox_webhook_deliveries{job="signalbox",state="due"})', per: 5_000 },
    ],
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
