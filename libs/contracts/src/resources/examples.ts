import { z } from "zod";

/** Examples of schemas for the documentation: what a client sends, or is shown. */
export const examples = z.registry<{ readonly example: z.$input }>();
