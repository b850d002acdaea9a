import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A dashboard as Grafana saves it; the members that are read here. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly title: string;
  /** Its meaning, and links to the runbooks of its alerts. */
  readonly description?: string;
  /** None in the head of a row. */
  readonly targets?: readonly { readonly expr: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly thresholds?: { readonly steps: readonly Step[] } } };
}

interface Step {
  readonly value: number | null;
  readonly color: string;
}

const folder = join(import.meta.dirname, "grafana/dashboards");

/** The dashboards, by file name. They are edited in Grafana and saved as JSON. */
export const dashboards: readonly Dashboard[] = readdirSync(folder)
  .sort()
  .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));

/** Lists the expressions of a dashboard, each with the title of its panel. */
export const queriesOf = ({ panels }: Dashboard): { readonly title: string; readonly expr: string }[] =>
  panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
