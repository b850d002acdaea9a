import { rulesFile } from "@signalbox/infra/observe/alerts/rules-file.ts";

const faster = 60;

/**
 * Builds the rules of some alerts in a hurry: windows, times that must pass and ages are a sixtieth, so that a drill takes
 * minutes. What is compared, and with what, stays.
 */
export function hurriedRules(...names: readonly string[]): string {
  const units = { m: 60, h: 3_600, d: 86_400 } as const;
  const seconds = (count: string, unit: string) =>
    `${Math.max(4, (Number(count) * units[unit as keyof typeof units]) / faster)}s`;
  return rulesFile(names)
    .replaceAll("interval: 30s", "interval: 1s")
    .replaceAll(/\[(\d+)([mhd])\]/g, (_, count: string, unit: string) => `[${seconds(count, unit)}]`)
    .replaceAll(/offset (\d+)([mhd])/g, (_, count: string, unit: string) => `offset ${seconds(count, unit)}`)
    .replaceAll(/for: (\d+)([mhd])/g, (_, count: string, unit: string) => `for: ${seconds(count, unit)}`)
    .replaceAll(
      /(_(?:seconds|duration)(?:\{[^}]*\})?\)? *)> (\d+)/g,
      (_, before: string, age: string) => `${before}> ${Number(age) / faster}`,
    );
}
