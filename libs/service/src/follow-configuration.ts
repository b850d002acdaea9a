import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Configuration } from "@signalbox/config";
import { draft, publishedProperties } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { type EventLog, publishEvents } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { openOverrides } from "./open-overrides.ts";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  // biome-ignore lint/suspicious/noExplicitAny: the names are those of the published properties, checked with `knows`.
  readonly configuration: Configuration<any>;
} & Pick<SharedParts, "overrides">;

/** Config counts an instance as gone after three silent minutes. */
const reportEveryMs = seconds(60);
const retryReportMs = seconds(5);

/**
 * Applies the overrides of the state topic, and reports what this instance runs with: at once, at every change and every
 * minute. The service counts as started once the overrides in force are applied; when the log goes away later, the last
 * good configuration stays.
 */
export async function followConfiguration(context: Context, eventLog: EventLog): Promise<void> {
  const { service, instance, configuration, log, clock, tracer, runner, health } = context;
  const startup = health.startup("configuration");
  const loadedAt = clock.now().toISOString();
  const overrides = context.overrides ?? (await openOverrides(context, eventLog));
  const started = Promise.withResolvers<void>();
  let changed = new AbortController();
  let problems: string[] = [];

  function apply(): void {
    const { values, revision } = overrides.current();
    const refused = configuration.setOverrides(values, String(revision));
    problems = refused.map(({ property, expected }) => `${service}: ${property} must be ${expected}`);
    log.info({ revision, overrides: Object.keys(values).length, problems }, "configuration overrides applied");
    changed.abort();
  }

  void overrides.caughtUp.then(
    () => {
      apply();
      overrides.onChange(apply);
      startup.done();
      started.resolve();
    },
    (error: unknown) => log.error({ error }, "the configuration overrides could not be read"),
  );

  runner.worker("configuration report", async (signal) => {
    await Promise.race([started.promise, once(signal, "abort")]);
    while (!signal.aborted) {
      // Made before the report is, so that a change during it is reported right after.
      changed = new AbortController();
      const waitMs = (await report()) ? reportEveryMs : retryReportMs;
      await sleep(waitMs, undefined, { signal: AbortSignal.any([signal, changed.signal]) }).catch(() => {});
    }
  });

  /** False while the log does not take it: the report is made again, so none is kept. */
  async function report(): Promise<boolean> {
    const names = Object.keys(publishedProperties).filter((name) => configuration.knows(name));
    const data = {
      service,
      instance,
      revision: overrides.current().revision,
      published: Object.fromEntries(names.map((name) => [name, configuration.get(name)])),
      pending_restart: configuration.pendingRestart(),
      problems,
      loaded_at: loadedAt,
    };
    const report = draft("config.applied", { subject: `${service}/${instance}`, accountId: null, data });
    try {
      await publishEvents({ eventLog, service, clock, tracer }, [report]);
      log.outage("The event log").passed("configuration report");
      return true;
    } catch (error) {
      log.outage("The event log").failed("configuration report", error);
      return false;
    }
  }
}
