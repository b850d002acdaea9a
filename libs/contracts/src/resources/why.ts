import { serviceNames } from "@signalbox/core";
import { z } from "zod";
import { examples, timestamp } from "./fields.ts";

const whyVerdicts = ["done", "failed", "refused", "waiting", "hole"] as const;

/** One step of the chain behind an id. */
export const WhyStep = z
  .object({
    at: timestamp.nullable().describe("When it happened; null for a gap without a time."),
    service: z.enum(serviceNames).describe("The service that reported it."),
    id: z.string().nullable().describe("The id of the item; null for a gap."),
    what: z.string().describe("What happened, in one sentence."),
    verdict: z
      .enum(whyVerdicts)
      .describe("`waiting` is not over yet; `hole` is a gap: it names what the chain cannot show, and why."),
    reason: z
      .string()
      .nullable()
      .describe("The stable code or the sentence that explains a failure, a refusal or a wait."),
    by: z.string().nullable().describe("The credential that did it; null for the product or one that you may not see."),
    link: z.string().nullable().describe("The path of the resource; null where there is none."),
  })
  .meta({ id: "WhyStep" })
  .register(examples, {
    example: {
      at: "2026-01-01T09:00:00.000Z",
      service: "webhook-delivery",
      id: "wha_01kdzq7c9p4r6s8t0v2w5x7y1z",
      what: "Attempt 1 was answered with 500 after 120 ms.",
      verdict: "failed",
      reason: "retry",
      by: null,
      link: "/api/v1/webhooks/deliveries/whd_01kdzq7c9p4r6s8t0v2w5x7y1z",
    },
  });

export type WhyStep = z.output<typeof WhyStep>;

/** A service's part of a chain, and the ids by which other parts are found. */
export const WhyPart = z.object({ steps: z.array(WhyStep), next: z.array(z.string()) });

export type WhyPart = z.output<typeof WhyPart>;

/** Every id that a chain can begin with. Others are none of ours, and nothing is asked for them. */
export const whyId = /^[\w.:~+/=@-]{1,160}$/;
