import { BackupResource, InstanceResource, type ServiceName, WorkerResource } from "@signalbox/contracts";
import { createRoutes, ok, type Routes } from "@signalbox/http";
import { operatingAuth, operatingBase, operatorOf } from "@signalbox/service";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import type { LiveInstance } from "../state/applied-reports.ts";
import { listBackups } from "./backups.ts";

/**
 * Creates the routes by which the gateway asks for every instance of every service with its workers, as each reports
 * itself, and for the backups of the deployment.
 */
export function instanceRoutes(service: ConfigService): Routes {
  const routes = createRoutes();
  routes.get(`${operatingBase}instances`, {
    summary: "Instances of every service",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(InstanceResource) }) },
    handle(input) {
      operatorOf(input, "operations:read");
      return ok({ items: inOrder(service).map(viewInstance) });
    },
  });
  routes.get(`${operatingBase}workers`, {
    summary: "Workers of every instance",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(WorkerResource) }) },
    handle(input) {
      operatorOf(input, "operations:read");
      return ok({ items: inOrder(service).flatMap(viewWorkers) });
    },
  });
  routes.get(`${operatingBase}backups`, {
    summary: "Backups of the deployment",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(BackupResource), is_watched: z.boolean() }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      return ok(await listBackups(service));
    },
  });
  return routes;
}

const inOrder = ({ reports }: ConfigService): LiveInstance[] =>
  reports
    .alive()
    .toSorted(({ report: a }, { report: b }) =>
      `${a.service}/${a.instance}`.localeCompare(`${b.service}/${b.instance}`),
    );

function viewInstance({ report, lagSeconds, lastSeenSeconds }: LiveInstance): z.output<typeof InstanceResource> {
  return {
    service: report.service as ServiceName,
    instance: report.instance,
    version: report.release ?? null,
    state: report.draining ? "draining" : "running",
    started_at: report.loaded_at,
    applied_revision: String(report.revision),
    lag_seconds: lagSeconds,
    last_seen_seconds: lastSeenSeconds,
    pending_restart: report.pending_restart,
  };
}

function viewWorkers({ report, lastSeenSeconds }: LiveInstance): z.output<typeof WorkerResource>[] {
  const { service, instance, workers = [] } = report;
  return workers.map(({ name, state, restarts, last_beat_at }) => {
    const worker = { service: service as ServiceName, instance, worker: name };
    return { ...worker, state, restarts, last_beat_at, last_seen_seconds: lastSeenSeconds };
  });
}
