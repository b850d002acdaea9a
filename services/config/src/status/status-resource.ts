import { z } from "zod";

/** `/api/v1/status/config` (spec, "Configuration status resource v1"; CONTRACT §4). */
export const ConfigStatusResource = z
  .object({
    status: z
      .enum(["ok", "degraded"])
      .describe("`degraded` when an instance refused a value or the instances disagree."),
    revision: z.string(),
    loaded_at: z.iso.datetime({ precision: 3 }),
    sources: z.array(z.string()).describe("Where values come from, highest precedence first."),
    validation: z.object({
      valid: z.boolean(),
      problems: z
        .array(z.string())
        .describe("Refused overrides with the reason, and names instances disagree on; never a value."),
    }),
    pending_restart: z.array(z.string()),
    services: z.array(
      z.object({ name: z.string(), instance: z.string(), revision: z.string(), lag_seconds: z.int().nonnegative() }),
    ),
  })
  .meta({ id: "ConfigStatus", description: "The resolved configuration's state, never its values." });

export type ConfigStatusResource = z.output<typeof ConfigStatusResource>;
