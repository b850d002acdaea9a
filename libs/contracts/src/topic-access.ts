import type { ServiceName } from "@signalbox/core";
import { catalogue, eventOf } from "./catalogue.ts";
import { subscriptions } from "./subscriptions.ts";
import { deadLetterTopic, type TopicName } from "./topics.ts";

interface Rights {
  readonly writes: readonly TopicName[];
  readonly reads: readonly TopicName[];
}

/** What a service may do with the topics of the event log. It joins groups whose names begin with its own. */
export interface TopicAccess {
  readonly service: ServiceName;
  readonly writes: readonly string[];
  readonly reads: readonly string[];
}

/** Every service reports its configuration, follows the overrides, and knows who may act. */
const everybody: Rights = {
  writes: ["signalbox.config-applied.v1"],
  reads: ["signalbox.config.v1", "signalbox.access.v1"],
};

/** Everything that an account or an operator can subscribe to. */
const offeredToEndpoints = catalogue.flatMap(({ audience, topic }) => (audience === "internal" ? [] : [topic]));

/** Everything that the graph tells its subscribers of. */
const toldToSubscribers = Object.values(subscriptions).flatMap(({ events }) =>
  events.map((name) => eventOf(name).topic),
);

/** The rights of each service beside those of everybody. Who decides about access is account alone. */
const rights: Readonly<Record<ServiceName, Rights>> = {
  account: {
    writes: ["signalbox.account.v1", "signalbox.access.v1", "signalbox.audit.v1"],
    reads: ["signalbox.audit.v1"],
  },
  config: {
    writes: ["signalbox.config.v1", "signalbox.audit.v1"],
    reads: ["signalbox.account.v1", "signalbox.config-applied.v1"],
  },
  images: {
    writes: ["signalbox.image.v1", "signalbox.image-render.v1", "signalbox.audit.v1"],
    reads: ["signalbox.account.v1", "signalbox.image-rendered.v1"],
  },
  "image-worker": { writes: ["signalbox.image-rendered.v1"], reads: ["signalbox.image-render.v1"] },
  "webhook-ingest": {
    writes: ["signalbox.webhook-source.v1", "signalbox.webhook-received.v1", "signalbox.audit.v1"],
    reads: ["signalbox.account.v1"],
  },
  "webhook-delivery": {
    writes: ["signalbox.webhook-delivery.v1", "signalbox.webhook-attempt.v1", "signalbox.audit.v1"],
    reads: ["signalbox.account.v1", ...offeredToEndpoints],
  },
  gateway: { writes: [], reads: toldToSubscribers },
};

/** Who may write and read which topic, for each service. `npm run topics` makes it the access lists of Kafka. */
export const topicAccess: readonly TopicAccess[] = Object.entries(rights).map(([name, { writes, reads }]) => {
  const service = name as ServiceName;
  return {
    service,
    writes: [...everybody.writes, ...writes, deadLetterTopic(service)],
    reads: [...new Set([...everybody.reads, ...reads])],
  };
});
