/** A rule that somebody is told of when it holds. Its page is `docs/runbooks/<name>.md`. */
export interface Alert {
  readonly name: string;
  /** `page` wakes somebody; a `ticket` waits for the morning. */
  readonly severity: "page" | "ticket" | "none";
  /** In PromQL, over the metrics of the catalogue. */
  readonly expr: string;
  /** How long it has to hold: `5m`. */
  readonly for?: string;
  /** One sentence; `{{ $labels.x }}` and `{{ $value }}` are filled in by Prometheus. */
  readonly summary: string;
}
