import { lastingStorage } from "../session/browser-storage.ts";
import { Store, useStore } from "../session/store.ts";

/** The zone and the clock in which a person reads times. */
export interface TimeChoice {
  readonly zone: "local" | "utc";
  readonly clock: "24" | "12";
}

/** Entry of the storage of this browser. */
const place = "signalbox console times";

const isTwelve = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions().hour12 ?? false;
const initial: TimeChoice = { zone: "local", clock: isTwelve ? "12" : "24" };

const choice = new Store<TimeChoice>({ ...initial, ...JSON.parse(lastingStorage.get(place) ?? "{}") });

/** Keeps how the person reads times, for every tab to come. */
export function chooseTimes(changed: Partial<TimeChoice>): void {
  choice.set({ ...choice.value, ...changed });
  lastingStorage.set(place, JSON.stringify(choice.value));
}

/** Returns how the person reads times, also when they choose otherwise. */
export const useTimeChoice = (): TimeChoice => useStore(choice);

const ticks = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls back every second, by one clock for the whole page. */
export function onTick(listener: () => void): () => void {
  ticks.add(listener);
  timer ??= setInterval(() => ticks.forEach((tick) => void tick()), 1_000);
  return () => {
    ticks.delete(listener);
    if (ticks.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
