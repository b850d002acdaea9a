import { z } from "zod";

/** Largest number of endpoints that a portal session can name. */
export const portalEndpointsMax = 100;

/** The internal path at which webhook-delivery answers which of some endpoints an account has. */
export const knownEndpointsPath = "/internal/accounts/:account_id/known-endpoints";

/** The endpoints of the question, and those of the answer. */
export const KnownEndpoints = z.strictObject({ endpoint_ids: z.array(z.string().max(100)).max(portalEndpointsMax) });
