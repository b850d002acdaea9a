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
