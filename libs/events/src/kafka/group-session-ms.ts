import type { Logger } from "@signalbox/telemetry";
import type { Admin } from "kafkajs";
import { brokerResource } from "./kafkajs.ts";

/** Silence after which a member is taken for dead, so its partitions have another reader within five seconds. */
const wantedMs = 3_000;
/** Kafka's default minimum. */
const kafkasOwnMs = 6_000;
const property = "group.min.session.timeout.ms";

/**
 * Finds the shortest session that the brokers allow, but not less than ours. Logs when take-over is slower than it
 * could be.
 */
export async function groupSessionMs(admin: Admin, log: Logger): Promise<number> {
  const { controller, brokers } = await admin.describeCluster();
  const name = String(controller ?? brokers[0]?.nodeId);
  const answer = await admin
    .describeConfigs({
      includeSynonyms: false,
      resources: [{ type: brokerResource, name, configNames: [property] }],
    })
    .catch((error: unknown) => {
      log.debug({ error }, `Kafka does not show ${property}`);
      return null;
    });
  const entries = answer?.resources[0]?.configEntries ?? [];
  const allowedMs = Number(entries.find(({ configName }) => configName === property)?.configValue ?? kafkasOwnMs);
  if (allowedMs > wantedMs) {
    log.info(
      { allowed_ms: allowedMs },
      `A dead member is noticed later than needed: Kafka's ${property} is above ${wantedMs}`,
    );
  }
  return Math.max(wantedMs, allowedMs);
}
