/** A rule that notifies someone when it holds. `docs/runbooks.md` has a section of its name. */
export interface Alert {
  readonly name: string;
  /** `page` wakes someone; a `ticket` waits for the morning. */
  readonly severity: "page" | "ticket" | "none";
  /** In PromQL, over the metrics of the catalogue. */
  readonly expr: string;
  /** Time for which it has to hold: `5m`. */
  readonly for?: string;
  /** One sentence; `{{ $labels.x }}` and `{{ $value }}` are filled in by Prometheus. */
  readonly summary: string;
}
