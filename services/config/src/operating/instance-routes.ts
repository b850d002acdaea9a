import { BackupResource, InstanceResource, WorkerResource } from "@signalbox/contracts";
import type { Clock, ServiceName } from "@signalbox/core";
import { createRoutes, ok, type Routes } from "@signalbox/http";
import { operatingAuth, operatingBase, operatorOf } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import type { Backup } from "../generated/prisma/client.ts";
import type { LiveInstance } from "../state/applied-reports.ts";

/**
 * Creates the routes by which the gateway asks for every instance of every service with its workers, as each reports
 * itself, and for the backups of the deployment.
 */
export function instanceRoutes(service: ConfigService): Routes {
  const routes = createRoutes();
  const declare = (name: string, summary: string, answer: z.ZodType, read: () => Promise<object> | object) =>
    routes.get(`${operatingBase}${name}`, {
      summary,
      ...operatingAuth,
      responses: { 200: answer },
      async handle(input) {
        operatorOf(input, "operations:read");
        return ok(await read());
      },
    });
  const instances = z.object({ items: z.array(InstanceResource) });
  const workers = z.object({ items: z.array(WorkerResource) });
  const backups = z.object({ items: z.array(BackupResource), is_watched: z.boolean() });
  const alive = () => service.reports.inOrder();
  declare("instances", "Instances of every service", instances, () => ({ items: alive().map(viewInstance) }));
  declare("workers", "Workers of every instance", workers, () => ({ items: alive().flatMap(viewWorkers) }));
  declare("backups", "Backups of the deployment", backups, () => listBackups(service));
  return routes;
}

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
  const of = { service: service as ServiceName, instance, last_seen_seconds: lastSeenSeconds };
  return workers.map(({ name: worker, ...reported }) => ({ ...of, worker, ...reported }));
}

const shownMax = 50;

const list = sql(
  "backups.list",
  `select name, taken_at as "takenAt", release, bytes, verified_at as "verifiedAt", restored_at as "restoredAt"
   from backups order by taken_at desc limit ${shownMax}`,
);
const newestVerified = sql(
  "backups.newest-verified",
  `select taken_at as "takenAt" from backups where verified_at is not null order by taken_at desc limit 1`,
);

/**
 * Lists the newest backups that the command `backup` has taken and checked, and noted in the database. Nothing is watched
 * as long as none has ever been noted.
 */
async function listBackups({ pool, clock }: ConfigService) {
  const { rows } = await pool.query<Backup>(list);
  return { items: rows.map((row) => viewBackup(row, clock)), is_watched: rows.length > 0 };
}

/** Shows the age of the newest backup that was found whole as a metric. */
export function watchBackups({ pool, clock, metrics }: ConfigService): void {
  // None before there is one.
  metrics.gauge("signalbox_backup_age_seconds", async (gauge) => {
    const [newest] = (await pool.query<{ readonly takenAt: Date }>(newestVerified)).rows;
    if (newest) gauge.set({}, ageOf(newest.takenAt, clock));
  });
}

const ageOf = (takenAt: Date, clock: Clock): number =>
  Math.max(0, Math.round((clock.nowMs() - takenAt.getTime()) / 1000));

const viewBackup = ({ name, takenAt, release, bytes, verifiedAt, restoredAt }: Backup, clock: Clock) => ({
  name,
  taken_at: takenAt.toISOString(),
  age_seconds: ageOf(takenAt, clock),
  release,
  bytes: Number(bytes),
  verified_at: verifiedAt?.toISOString() ?? null,
  restored_at: restoredAt?.toISOString() ?? null,
});
