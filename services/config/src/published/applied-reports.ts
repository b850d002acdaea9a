import type { EventData } from "@signalbox/contracts";
import { type Clock, minutes } from "@signalbox/core";

type AppliedReport = EventData<"config.applied">;

interface Heard {
  readonly report: AppliedReport;
  readonly heardAtMs: number;
}

/** Instances report every minute; one that was not heard for three is gone and no longer holds the others back. */
const staleAfterMs = minutes(3);

export interface AppliedReports {
  apply(report: AppliedReport, sentAt: Date): void;
  /** The reports of the instances that are alive, with the seconds since each was heard. */
  alive(): { readonly report: AppliedReport; readonly lagSeconds: number }[];
  /** When the next of them counts as gone unless it is heard again, in milliseconds since the epoch. */
  nextGoneAtMs(): number;
  onChange(listener: () => void): void;
}

/** Remembers what each instance says it runs with. */
export function createAppliedReports(clock: Clock): AppliedReports {
  const heard = new Map<string, Heard>();
  const listeners: (() => void)[] = [];
  return {
    apply(report, sentAt) {
      const key = `${report.service}/${report.instance}`;
      const known = heard.get(key);
      heard.set(key, { report, heardAtMs: sentAt.getTime() });
      if (JSON.stringify(known?.report) === JSON.stringify(report)) return;
      for (const listener of listeners) listener();
    },
    alive() {
      const nowMs = clock.nowMs();
      for (const [key, { heardAtMs }] of heard) if (nowMs - heardAtMs > staleAfterMs) heard.delete(key);
      return [...heard.values()].map(({ report, heardAtMs }) => ({
        report,
        lagSeconds: Math.max(0, Math.round((nowMs - heardAtMs) / 1000)),
      }));
    },
    nextGoneAtMs: () => Math.min(...[...heard.values()].map(({ heardAtMs }) => heardAtMs + staleAfterMs)),
    onChange: (listener) => void listeners.push(listener),
  };
}
