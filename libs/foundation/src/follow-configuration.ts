import { setTimeout as sleep } from "node:timers/promises";
import type { Configuration } from "@signalbox/config";
import { draft, publishedProperties } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { decodeEvent, type EventLog, eventNameOf, publishEvents, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";

// biome-ignore lint/suspicious/noExplicitAny: the names are those of the published properties, checked with `knows`.
type Context = Omit<ServiceContext<unknown>, "configuration"> & { readonly configuration: Configuration<any> };

/** Config counts an instance as gone after three silent minutes. */
const reportEveryMs = seconds(60);

/**
 * Applies the overrides of the state topic from its beginning on, and reports what this instance runs with: at once, at
 * every change and every minute. The service counts as started once the overrides in force are applied; when the log goes
 * away later, the last good configuration stays.
 */
export async function followConfiguration(context: Context, eventLog: EventLog): Promise<void> {
  const { service, instance, configuration, log, clock, tracer, runner, health } = context;
  const overrides = new Map<string, unknown>();
  const startup = health.startup("configuration");
  const loadedAt = clock.now().toISOString();
  let revision = 0;
  let problems: string[] = [];
  let isCaughtUp = false;
  let wake = () => {};

  function apply(record: ReceivedRecord): void {
    if (eventNameOf(record.headers) !== "config.changed") return;
    const { data } = decodeEvent("config.changed", record);
    if (data.set) overrides.set(data.property, data.value);
    else overrides.delete(data.property);
    revision = Math.max(revision, data.revision);
    if (isCaughtUp) applyAll();
  }

  function applyAll(): void {
    const refused = configuration.setOverrides(Object.fromEntries(overrides), String(revision));
    problems = refused.map(({ property, expected }) => `${service}: ${property} must be ${expected}`);
    log.info({ revision, overrides: overrides.size, problems }, "configuration overrides applied");
    wake();
  }

  const reader = await eventLog.broadcast({
    service,
    instance,
    topics: ["signalbox.config.v1"],
    from: "start",
    onRecord: apply,
  });
  runner.defer("configuration reader", () => reader.close());
  void reader.caughtUp.then(
    () => {
      isCaughtUp = true;
      applyAll();
      startup.done();
    },
    (error: unknown) => log.error({ error }, "the configuration overrides could not be read"),
  );

  runner.worker("configuration report", async (signal) => {
    while (!signal.aborted) {
      if (isCaughtUp) await report();
      await new Promise<void>((resolve) => {
        wake = resolve;
        const waitMs = isCaughtUp ? reportEveryMs : seconds(1);
        sleep(waitMs, undefined, { signal }).then(resolve, resolve);
      });
    }
  });

  async function report(): Promise<void> {
    const names = Object.keys(publishedProperties).filter((name) => configuration.knows(name));
    const data = {
      service,
      instance,
      revision,
      published: Object.fromEntries(names.map((name) => [name, configuration.get(name)])),
      pending_restart: configuration.pendingRestart(),
      problems,
      loaded_at: loadedAt,
    };
    const report = draft("config.applied", { subject: `${service}/${instance}`, accountId: null, data });
    await publishEvents({ eventLog, service, clock, tracer }, [report]);
  }
}
