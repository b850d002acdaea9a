import { valueText } from "../configuration.ts";
import type { ChangeResult } from "./property-change.ts";

/** The results of changes: the value of each property, and how many instances run with it. */
export const ChangeResults = ({ results }: { readonly results: readonly ChangeResult[] }) => (
  <div role="status">
    {results.map(({ name, value, masked, applied, instances, appliesAt, shadowedBy }) => (
      <p key={name}>
        {name} is <code>{valueText({ value, masked })}</code>
        {appliesAt === "LIVE"
          ? `: ${applied} of ${instances} instances run with it.`
          : ` when its ${instances} instances next start.`}
        {shadowedBy && ` But ${shadowedBy} overrides it: remove it there.`}
      </p>
    ))}
  </div>
);
