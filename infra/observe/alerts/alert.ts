/**
 * Narrows each metric of ours in an expression to what is scraped from Signalbox: other jobs of the same Prometheus may
 * have metrics of the same name.
 */
export const ofSignalbox = (expr: string): string =>
  expr.replaceAll(
    /\b((?:signalbox|http_server|nodejs)_\w+)(?:\{([^}]*)\})?/g,
    (_, metric, labels) => `${metric}{job="signalbox"${labels ? `,${labels}` : ""}}`,
  );

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
  /** Page of the console, below the address of the deployment, that shows what it is about; labels are filled in. */
  readonly console?: string;
}

/** Builds an alert that holds once it has lasted for a time such as `5m`; null: at once. */
const alertOf =
  (severity: Alert["severity"]) =>
  (name: string, lasting: string | null, rule: Omit<Alert, "name" | "severity" | "for">): Alert => ({
    name,
    severity,
    ...rule,
    ...(lasting !== null && { for: lasting }),
  });

export const page = alertOf("page");
export const ticket = alertOf("ticket");
