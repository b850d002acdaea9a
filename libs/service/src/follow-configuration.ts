import { setTimeout as sleep } from "node:timers/promises";
import { draft, type EventData, publishedProperties } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { type EventLog, publishEvents } from "@signalbox/events";
import type { Configuration, RuntimeProperties, ServiceContext } from "@signalbox/runtime";
import { observeConfigCanary } from "./canary/canary-age.ts";
import { type Overrides, openOverrides } from "./overrides/open-overrides.ts";
import { copyKeysOf, createOverrideCopy } from "./overrides/override-copy.ts";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  // biome-ignore lint/suspicious/noExplicitAny: the names are those of the published properties, checked with `knows`.
  readonly configuration: Configuration<any>;
} & SharedParts;

/** Config counts an instance as stopped after three silent minutes. */
const reportEveryMs = seconds(60);
const retryReportMs = seconds(5);
/** The first report comes before the service has started its workers, so the second one follows soon. */
const secondReportMs = seconds(5);
const lastReportMs = seconds(1);

const missing = {
  copy: "the event log did not respond; using the overrides of the last run",
  nowhere: "the event log did not respond and there is no copy of the overrides; applying none",
} as const;

/**
 * Applies the overrides of the state topic, and reports the values of this instance: immediately, at every change and
 * every minute. Must come before every reader of a property that is not `local`: values fixed at the start are final
 * when this returns. The service counts as started once it has the active overrides, or the copy of its last run;
 * during a later outage of the log the last good configuration stays. Returns the followed overrides.
 */
export async function followConfiguration(context: Context, eventLog: EventLog): Promise<Overrides> {
  const { service, configuration, log, metrics, health, clock } = context;
  const startup = health.startup("configuration");
  const overrides = context.overrides ?? (await openOwnOverrides(context, eventLog));
  metrics.gauge("signalbox_config_revision", (gauge) => gauge.set({}, configuration.revision ?? 0));
  metrics.gauge("signalbox_config_age_seconds", (gauge) => gauge.set({}, overrides.ageMs() / 1000));
  observeConfigCanary(context, overrides);
  let changed = Promise.withResolvers<void>();
  let problems: string[] = [];
  let appliedAt = clock.now();

  function apply(how: "startWith" | "setOverrides", alsoWrong: readonly string[] = []): void {
    const current = overrides.current();
    if (current.revision !== configuration.revision) appliedAt = clock.now();
    const refused = configuration[how](current);
    problems = [
      ...alsoWrong,
      ...refused.map(({ property, expected }) => `${service}: ${property} must be ${expected}`),
    ];
    log.info({ revision: current.revision, problems }, "configuration overrides applied");
    const before = changed;
    changed = Promise.withResolvers<void>();
    before.resolve();
  }

  const origin = await overrides.settled;
  apply("startWith", origin === "log" ? [] : [`${service}: ${missing[origin]}`]);
  if (origin !== "nowhere") startup.done();
  void overrides.caughtUp.then(
    () => {
      if (origin !== "log") apply("setOverrides");
      overrides.onChange(() => apply("setOverrides"));
      startup.done();
    },
    (error: unknown) => log.error({ error }, "reading the configuration overrides failed"),
  );

  startReports({ ...context, eventLog }, () => ({
    revision: overrides.current().revision,
    problems,
    appliedAt,
    changed: changed.promise,
  }));
  return overrides;
}

interface Applied {
  readonly revision: number;
  readonly appliedAt: Date;
  readonly problems: readonly string[];
  /** Settles at the next change. */
  readonly changed: Promise<void>;
}

/** Reports the values of this instance: immediately, at every change and every minute, and its end. */
function startReports(context: Context & { readonly eventLog: EventLog }, applied: () => Applied): void {
  const { service, instance, configuration, log, clock, runner, workers } = context;
  const release = configuration.knows("deployment.release") ? configuration.get("deployment.release") : null;
  const left = new Promise<void>((resolve) => runner.leaving.addEventListener("abort", () => resolve()));
  const loadedAt = clock.now().toISOString();
  runner.worker("configuration report", async (signal) => {
    let everyMs = secondReportMs;
    while (!signal.aborted) {
      // Read before the report is built, so that a change during it is reported right after.
      const { changed } = applied();
      const isSent = await report();
      const waitMs = isSent ? everyMs : retryReportMs;
      if (isSent) everyMs = reportEveryMs;
      const timer = new AbortController();
      const waited = sleep(waitMs, undefined, { signal: AbortSignal.any([signal, timer.signal]) }).catch(() => {});
      await Promise.race(runner.leaving.aborted ? [waited, changed] : [waited, changed, left]);
      timer.abort();
    }
    // The last report saves others the wait for its silence. The stop does not wait during an outage of the log.
    await Promise.race([report({ ended: true }), sleep(lastReportMs, undefined, { ref: false })]);
  });

  /** Sends a report; false when the log does not accept it: reports are rebuilt, so none is stored. */
  async function report(more: { readonly ended?: true } = {}): Promise<boolean> {
    const names = Object.keys(publishedProperties).filter((name) => configuration.knows(name));
    const { revision, appliedAt, problems } = applied();
    const data = {
      service,
      instance,
      revision,
      problems: [...problems],
      loaded_at: loadedAt,
      ...more,
      applied_at: appliedAt.toISOString(),
      published: Object.fromEntries(names.map((name) => [name, configuration.get(name)])),
      values: configuration.runningValues() as EventData<"config.applied">["values"],
      pending_restart: configuration.pendingRestart(),
      release: release as string | null,
      draining: runner.leaving.aborted,
      workers: workers().map(({ name, state, restarts, silentMs }) => ({
        name,
        state,
        restarts,
        last_beat_at: silentMs === null ? null : new Date(clock.nowMs() - silentMs).toISOString(),
      })),
    };
    const report = draft("config.applied", { subject: `${service}/${instance}`, accountId: null, data });
    try {
      await publishEvents(context, [report]);
      log.outage("The event log").passed("configuration report");
      return true;
    } catch (error) {
      log.outage("The event log").failed("configuration report", error);
      return false;
    }
  }
}

function openOwnOverrides(context: Context, eventLog: EventLog) {
  const { service } = context;
  const configuration = context.configuration as Configuration<RuntimeProperties>;
  const directory = configuration.get("config.copy-directory");
  const copy = createOverrideCopy({ service, directory, keys: copyKeysOf(context.configuration) });
  return openOverrides(context, eventLog, { copy, waitMs: configuration.get("config.start-wait") });
}
