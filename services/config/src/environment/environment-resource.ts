import { z } from "zod";

/** `/api/v1/env/` (spec, "Environment resource v1"; CONTRACT §4). */
export const EnvironmentResource = z
  .object({
    environment: z.string(),
    deployment: z.object({
      release: z.string().nullable(),
      commit: z.string().nullable(),
      region: z.string().nullable(),
      platform: z.string(),
    }),
    status: z.enum(["up", "degraded", "draining"]),
    updated_at: z.iso.datetime({ precision: 3 }),
    configuration: z.record(z.string(), z.json()).describe("Effective values; what is sensitive is shown as ******."),
    links: z.object({ self: z.string(), config: z.string(), status: z.string() }),
  })
  .meta({ id: "Environment", description: "Permitted metadata about the deployment." });

export type EnvironmentResource = z.output<typeof EnvironmentResource>;
