import type { Metrics } from "./metrics.ts";

/**
 * Merges the metrics of several services into one OpenMetrics text: each metric described once, its samples
 * distinguished by the label `service`.
 */
export async function mergeMetrics(metrics: readonly Metrics[]): Promise<string> {
  const texts = await Promise.all(metrics.map((one) => one.text()));
  const families = new Map<string, { description: string[]; samples: string[] }>();
  for (const text of texts) {
    let family = { description: [] as string[], samples: [] as string[] };
    for (const line of text.split("\n")) {
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        const known = families.get(name);
        family = known ?? { description: [], samples: [] };
        if (!known) families.set(name, family);
        else continue;
      }
      if (line === "" || line === "# EOF") continue;
      if (!line.startsWith("#")) family.samples.push(line);
      else if (family.description.length < 2) family.description.push(line);
    }
  }
  const lines = [...families.values()].flatMap(({ description, samples }) => [...description, ...samples]);
  return [...lines, "# EOF", ""].join("\n");
}

/** The content type of a scrape without OpenMetrics. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Converts the OpenMetrics text to the older format of Prometheus: counters by their whole name, no exemplars, no end.
 */
export function toPrometheusText(openMetrics: string): string {
  const counters = new Set([...openMetrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name));
  const lines = openMetrics.split("\n").flatMap((line) => {
    if (line === "# EOF") return [];
    const [, comment, name = "", rest] = /^(# (?:HELP|TYPE)) (\S+) (.*)$/.exec(line) ?? [];
    if (comment) return [`${comment} ${counters.has(name) ? `${name}_total` : name} ${rest}`];
    return [line.replace(/ # \{.*$/, "")];
  });
  return lines.join("\n");
}
