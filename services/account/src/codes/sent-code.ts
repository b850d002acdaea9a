import { timestamp } from "@signalbox/contracts";
import { z } from "zod";

/** The answer that a code is on its way. */
export const SentCode = z
  .object({
    sent_to: z.string().describe("Where the code was sent, not readable in full."),
    expires_at: timestamp.describe("When the code ends."),
  })
  .meta({ id: "SentCode" });
