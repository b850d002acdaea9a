import { Resolver, lookup as systemLookup } from "node:dns/promises";
import { type Clock, seconds } from "@signalbox/core";
import { OutboundError } from "./outbound-error.ts";
import type { AddressLookup } from "./ssrf-guard.ts";

interface NameLookupOptions {
  readonly clock: Clock;
  /** For tests. Default: the name servers of the system. */
  readonly resolver?: AddressResolver;
  readonly fallback?: AddressLookup;
}

type AddressResolver = Pick<Resolver, "resolve4" | "resolve6">;

type Addresses = Awaited<ReturnType<AddressLookup>>;

interface Known {
  readonly answer: Promise<Addresses>;
  untilMs: number;
}

const ttlMsMin = seconds(1);
const ttlMsMax = seconds(60);
const namesMax = 10_000;
/** Limits of a query to a name server that never answers. It blocks no thread of the process. */
const queryLimits = { timeout: 2_000, tries: 2 };

/**
 * Creates the lookup of names, which asks the name servers directly: the system's lookup has four threads for the whole
 * process, and that many unresolvable names block every other. Answers are cached for their TTL, from 1 s to 60 s; the
 * connector still checks each address. A name that no server knows may be known to the system alone, such as one of its
 * hosts file.
 */
export function createNameLookup({
  clock,
  resolver = new Resolver(queryLimits),
  fallback,
}: NameLookupOptions): AddressLookup {
  const known = new Map<string, Known>();
  const askSystem: AddressLookup = fallback ?? ((hostname) => systemLookup(hostname, { all: true }));

  return (hostname) => {
    const nowMs = clock.steadyMs();
    const found = known.get(hostname);
    if (found && found.untilMs > nowMs) return found.answer;
    const asked = ask(resolver, hostname, askSystem);
    const entry: Known = { answer: asked.then(({ addresses }) => addresses), untilMs: Number.POSITIVE_INFINITY };
    known.delete(hostname);
    known.set(hostname, entry);
    asked.then(
      ({ ttlMs }) => {
        entry.untilMs = clock.steadyMs() + Math.min(ttlMsMax, Math.max(ttlMsMin, ttlMs));
      },
      () => {
        entry.untilMs = clock.steadyMs() + ttlMsMin;
      },
    );
    for (const oldest of known.keys()) {
      if (known.size <= namesMax) break;
      known.delete(oldest);
    }
    return entry.answer;
  };
}

async function ask(
  resolver: AddressResolver,
  hostname: string,
  askSystem: AddressLookup,
): Promise<{ addresses: Addresses; ttlMs: number }> {
  const [v4, v6] = await Promise.allSettled([
    resolver.resolve4(hostname, { ttl: true }),
    resolver.resolve6(hostname, { ttl: true }),
  ]);
  const found = [
    ...(v4.status === "fulfilled" ? v4.value.map((one) => ({ ...one, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((one) => ({ ...one, family: 6 })) : []),
  ];
  if (found.length > 0) return { addresses: found, ttlMs: Math.min(...found.map(({ ttl }) => ttl)) * 1000 };
  const reason: unknown = v4.status === "rejected" ? v4.reason : v6.status === "rejected" ? v6.reason : null;
  if (!isUnknownName(reason)) {
    const message = `The name ${hostname} could not be resolved.`;
    throw new OutboundError("resolve", message, { code: "EAI_AGAIN", cause: reason });
  }
  return { addresses: await askSystem(hostname), ttlMs: ttlMsMin };
}

/** Returns true when no server could be asked, or the servers know no such name. */
function isUnknownName(reason: unknown): boolean {
  const code = (reason as NodeJS.ErrnoException | null)?.code;
  return code === "ENOTFOUND" || code === "ENODATA" || code === "ECONNREFUSED";
}
