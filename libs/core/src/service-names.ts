/** The services of this repository, by the names used in topics, databases, properties and labels. */
export const serviceNames = [
  "account",
  "images",
  "image-worker",
  "config",
  "webhook-ingest",
  "webhook-delivery",
  "gateway",
] as const;

export type ServiceName = (typeof serviceNames)[number];
