import type { Engine, EngineName } from "./engine.ts";
import { kafka } from "./kafka/kafka.ts";
import { nginx } from "./nginx/nginx.ts";
import { postgres } from "./postgres/postgres.ts";
import { prometheus } from "./prometheus/prometheus.ts";
import { redis } from "./redis/redis.ts";
import { versitygw } from "./versitygw/versitygw.ts";

/** Every real engine of this repository, in the order in which they are fetched. */
export const engines: readonly Engine[] = [postgres, redis, kafka, versitygw, nginx, prometheus];

/** The engines that all tests of a run share; nginx and Prometheus need a configuration per test. */
export const sharedEngines: readonly Engine[] = engines.filter((engine) => engine !== nginx && engine !== prometheus);

export function engineNamed(name: EngineName): Engine {
  const engine = engines.find((each) => each.name === name);
  if (!engine) throw new Error(`there is no engine "${name}"`);
  return engine;
}
