import { BackupResource, InstanceResource, type ServiceName, WorkerResource } from "@signalbox/contracts";
import { createRoutes, ok, type Routes } from "@signalbox/http";
import { operatingAuth, operatingBase, operatorOf } from "@signalbox/service";
import { z } from "zod";
import type { AppliedReports } from "../published/applied-reports.ts";
import type { Backups } from "./backups.ts";

interface Dependencies {
  readonly reports: Pick<AppliedReports, "alive">;
  readonly backups: Backups;
}

/**
 * Creates the routes by which the gateway asks for every instance of every service with its workers, as each reports
 * itself, and for the backups of the deployment.
 */
export function instanceRoutes({ reports, backups }: Dependencies): Routes {
  const routes = createRoutes();
  routes.get(`${operatingBase}instances`, {
    summary: "Instances of every service",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(InstanceResource) }) },
    handle(input) {
      operatorOf(input, "operations:read");
      return ok({ items: inOrder(reports).map(viewInstance) });
    },
  });
  routes.get(`${operatingBase}workers`, {
    summary: "Workers of every instance",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(WorkerResource) }) },
    handle(input) {
      operatorOf(input, "operations:read");
      return ok({ items: inOrder(reports).flatMap(viewWorkers) });
    },
  });
  routes.get(`${operatingBase}backups`, {
    summary: "Backups of the deployment",
    ...operatingAuth,
    responses: { 200: z.object({ items: z.array(BackupResource), is_watched: z.boolean() }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      return ok(await backups.list());
    },
  });
  return routes;
}

type Live = ReturnType<AppliedReports["alive"]>[number];

const inOrder = (reports: Dependencies["reports"]): Live[] =>
  reports
    .alive()
    .toSorted(({ report: a }, { report: b }) =>
      `${a.service}/${a.instance}`.localeCompare(`${b.service}/${b.instance}`),
    );

function viewInstance({ report, lagSeconds, lastSeenSeconds }: Live): z.output<typeof InstanceResource> {
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

function viewWorkers({ report, lastSeenSeconds }: Live): z.output<typeof WorkerResource>[] {
  const { service, instance, workers = [] } = report;
  return workers.map(({ name, state, restarts, last_beat_at }) => {
    const worker = { service: service as ServiceName, instance, worker: name };
    return { ...worker, state, restarts, last_beat_at, last_seen_seconds: lastSeenSeconds };
  });
}
