import { z } from "zod";

/** Media types that no browser runs. */
const inactiveType =
  /^(?:text\/(?:plain|csv)|application\/(?:json|[\w.-]+\+json|octet-stream|x-www-form-urlencoded))(?:; ?charset=utf-8)?$/i;
const xmlType = /^(?:text|application)\/xml(?:; ?charset=utf-8)?$/i;
/** Scripts of XML come with a namespace, a stylesheet or a document type. */
const activeXml = /xmlns|<\?(?!xml\s)|<!/i;

const expected =
  "must be text/plain, text/csv, application/json or another +json, application/octet-stream, application/x-www-form-urlencoded, or XML without a namespace, a stylesheet and a document type.";

const bodyBytesMax = 1_024;

export const CustomAnswerBody = z
  .strictObject({
    status: z.union([z.literal(200), z.literal(202), z.literal(204)]).describe("The status of the answer."),
    body: z
      .string()
      .max(bodyBytesMax)
      .refine((text) => Buffer.byteLength(text) <= bodyBytesMax, "The body has at most 1,024 bytes.")
      .optional()
      .describe("The body of the answer."),
    content_type: z
      .string()
      .max(128)
      .optional()
      .describe(
        "The media type of the answer, which must be inactive: plain text, CSV, JSON, a form, bytes or plain XML.",
      ),
  })
  .refine(({ status, body }) => status !== 204 || body === undefined, { path: ["body"], error: "204 has no body." })
  .refine(({ content_type: type, body }) => type === undefined || isInactive(type, body), {
    path: ["content_type"],
    error: `content_type ${expected}`,
  })
  .describe("The answer to an accepted webhook, for senders that expect another than 202.");

/** Returns true when no browser would run the body as a page or a script. */
export const isInactive = (contentType: string, body = ""): boolean =>
  inactiveType.test(contentType) || (xmlType.test(contentType) && !activeXml.test(body));
