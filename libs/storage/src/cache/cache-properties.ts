import { defineProperties, property } from "@signalbox/runtime";

/** The properties of the cache: shared by the instances of a service when it is Redis. */
export const cacheProperties = defineProperties({
  "cache.url": property.string(
    { default: "memory:", pattern: "^(memory:|rediss?://.+)$", secrecy: "secret", local: true },
    "Address of cached values, leases and shared rate-limit counters: memory:, redis://user:password@host:port/0, or rediss:// with TLS.",
  ),
  "cache.ca-file": property.string(
    { default: null, local: true },
    "File with the certificate authority of a rediss:// server, in PEM. Default: the authorities built into Node.",
  ),
  "cache.memory.bytes-max": property.integer(
    { default: 67_108_864, unit: "bytes", min: 65_536, max: 17_179_869_184 },
    "Largest size of keys and values in memory:; the least recently used are removed first.",
  ),
  "cache.command-timeout": property.integer(
    { default: 250, unit: "ms", min: 10, max: 10_000 },
    "Time limit of a Redis command; after it the caller continues without the cache.",
  ),
});
