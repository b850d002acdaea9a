import { lookup as systemLookup } from "node:dns/promises";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { Clock } from "@signalbox/core";
import { buildConnector } from "undici";
import { connectionCode, OutboundError } from "./outbound-error.ts";
import { type OutboundProxy, openTunnel } from "./proxy-tunnel.ts";
import { isLocalhost, type TargetPolicy } from "./target-policy.ts";

/** Returns the addresses of a name. The socket uses one of them, without a second look-up. */
export type AddressLookup = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

/** A certificate with its key, both in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface GuardedConnectorOptions {
  readonly clock: Clock;
  readonly policy: TargetPolicy;
  readonly resolve?: AddressLookup | undefined;
  /** Time limit of TCP and TLS together. The deadline of an exchange may be earlier. */
  readonly connectTimeoutMs: number;
  /** PEM certificates trusted besides the usual roots. */
  readonly certificateAuthorities?: readonly string[] | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Proxy of every connection. The target is checked before the proxy learns of it. */
  readonly proxy?: OutboundProxy | undefined;
  /** Offers HTTP/2 before HTTP/1.1 in the TLS handshake. */
  readonly http2?: boolean | undefined;
}

/** Milliseconds of the phases of opening a connection. */
export interface ConnectionTiming {
  readonly resolveMs: number;
  readonly connectMs: number;
  /** Null without TLS. */
  readonly tlsMs: number | null;
}

const timings = new WeakMap<Socket, ConnectionTiming>();

/** Returns the timing of opening this connection. */
export const connectionTimingOf = (socket: Socket): ConnectionTiming | undefined => timings.get(socket);

/**
 * Creates the connector of all connections of a client. A literal address never reaches a resolver, so it is checked
 * here. Names are checked inside the socket's own lookup, so that every answer of a rebinding resolver is checked. The
 * address of the connected socket is checked once more.
 */
export function createGuardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { clock, policy, resolve = systemResolve, connectTimeoutMs, proxy } = options;
  const connectorOf = createConnectors(options);

  return function connect(target, callback) {
    const hostname = target.hostname.replace(/^\[|\]$/g, "");
    const port = Number(target.port) || (target.protocol === "https:" ? 443 : 80);
    const problem = isIP(hostname) === 0 ? null : policy.judgeAddress(hostname, port);
    if (problem) {
      queueMicrotask(() => callback(new OutboundError("forbidden", problem.message, { code: problem.code }), null));
      return;
    }

    if (proxy) {
      connectThrough(
        proxy,
        { policy, resolve, port, target, hostname, connectTimeoutMs, clock },
        connectorOf(port, target.protocol),
      ).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(stagedError(error, hostname, false, target.protocol), null),
      );
      return;
    }

    let connected = false;
    const startedMs = clock.steadyMs();
    let [resolvedMs, connectedMs] = [startedMs, startedMs];
    // The declared type hides it, but the connector returns its socket: the only way to distinguish TCP from TLS
    // failures.
    const socket = connectorOf(port, target.protocol)(target, (error, established) => {
      if (error) return callback(stagedError(error, hostname, connected, target.protocol), null);
      const remoteAddress = established?.remoteAddress ?? "";
      const verdict = policy.judgeAddress(remoteAddress, port);
      if (!verdict && established) {
        const tlsMs = target.protocol === "https:" ? clock.steadyMs() - connectedMs : null;
        timings.set(established, { resolveMs: resolvedMs - startedMs, connectMs: connectedMs - resolvedMs, tlsMs });
        return callback(null, established);
      }
      if (!verdict) return callback(noConnection(), null);
      established?.destroy();
      callback(new OutboundError("forbidden", verdict.message, { code: verdict.code, remoteAddress }), null);
    }) as unknown as Socket;
    socket.once("lookup", () => {
      resolvedMs = clock.steadyMs();
    });
    socket.once("connect", () => {
      connected = true;
      connectedMs = clock.steadyMs();
    });
  };
}

/** Creates the connectors that open the sockets, one for each protocol and port. */
function createConnectors(options: GuardedConnectorOptions) {
  const { policy, resolve = systemResolve, connectTimeoutMs, http2 = false } = options;
  // One per port, because a lookup does not know its port; kept, because each caches its TLS sessions.
  const connectors = new Map<string, buildConnector.connector>();
  // Created once: a context per connection, with every root certificate, would take a millisecond of processor time.
  let secureContext: SecureContext | undefined;

  return (port: number, protocol: string): buildConnector.connector => {
    const origin = `${protocol}${port}`;
    const known = connectors.get(origin);
    if (known) return known;
    if (protocol === "https:") secureContext ??= secureContextOf(options);
    const lookup = guardedLookup({ policy, resolve, port });
    const timing = { timeout: connectTimeoutMs, allowH2: http2, preferH2: true };
    const connector = buildConnector({ secureContext, lookup, ...timing });
    connectors.set(origin, connector);
    return connector;
  };
}

const secureContextOf = ({ certificateAuthorities, clientCertificate }: GuardedConnectorOptions) =>
  createSecureContext({
    ca: certificateAuthorities && [...rootCertificates, ...certificateAuthorities],
    cert: clientCertificate?.certificate,
    key: clientCertificate?.key,
  });

interface ProxiedTarget extends Guard {
  readonly target: buildConnector.Options;
  readonly hostname: string;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Connects through the proxy. The target is checked here, and the proxy gets the checked address. TLS is with the
 * target, end to end.
 */
async function connectThrough(
  proxy: OutboundProxy,
  { target, hostname, connectTimeoutMs, clock, ...guard }: ProxiedTarget,
  encrypt: buildConnector.connector,
): Promise<Socket> {
  const startedMs = clock.steadyMs();
  const [first] = isIP(hostname) === 0 ? await addressesOf(hostname, guard) : [];
  const resolvedMs = clock.steadyMs();
  const tunnel = await openTunnel(proxy, { address: first?.address ?? hostname, port: guard.port }, connectTimeoutMs);
  const connectedMs = clock.steadyMs();
  const isEncrypted = target.protocol === "https:";
  const socket = isEncrypted ? await encryptTunnel(tunnel, target, hostname, encrypt) : tunnel;
  timings.set(socket, {
    resolveMs: resolvedMs - startedMs,
    connectMs: connectedMs - resolvedMs,
    tlsMs: isEncrypted ? clock.steadyMs() - connectedMs : null,
  });
  return socket;
}

const encryptTunnel = (
  httpSocket: Socket,
  target: buildConnector.Options,
  hostname: string,
  encrypt: buildConnector.connector,
) =>
  new Promise<Socket>((resolve, reject) => {
    encrypt({ ...target, httpSocket }, (error, established) => {
      if (established) return resolve(established);
      httpSocket.destroy();
      reject(error ? stagedError(error, hostname, true, "https:") : noConnection());
    });
  });

interface Guard {
  readonly policy: TargetPolicy;
  readonly resolve: AddressLookup;
  readonly port: number;
}

function guardedLookup(guard: Guard): LookupFunction {
  return (hostname, options, callback) => {
    addressesOf(hostname, guard).then(
      (addresses) => {
        const first = addresses[0] as { address: string; family: number };
        if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };
}

async function addressesOf(hostname: string, guard: Guard) {
  const { policy, resolve, port } = guard;
  if (isLocalhost(hostname)) {
    const own = policy.localhostAddresses(port);
    if (own.length > 0) return own.map((address) => ({ address, family: isIP(address) }));
  }
  const addresses = await resolve(hostname);
  if (addresses.length === 0) {
    throw new OutboundError("resolve", `The name ${hostname} has no address.`, { code: "ENOTFOUND" });
  }
  // One bad address condemns the name: a host that mixes public and private answers is being rebound.
  for (const { address } of addresses) {
    const problem = policy.judgeAddress(address, port);
    if (problem) throw new OutboundError("forbidden", problem.message, { code: problem.code, remoteAddress: address });
  }
  return addresses;
}

const noConnection = () => new OutboundError("connect", "No connection.", { code: "failed" });
const systemResolve: AddressLookup = (hostname) => systemLookup(hostname, { all: true });

function stagedError(error: Error, hostname: string, connected: boolean, protocol: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const { syscall } = error as NodeJS.ErrnoException;
  const code = connectionCode(error);
  if (syscall === "getaddrinfo" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return new OutboundError("resolve", `The name ${hostname} could not be resolved.`, { code, cause: error });
  }
  if (connected && protocol === "https:") {
    return new OutboundError("tls", `The TLS handshake with ${hostname} failed.`, { code, cause: error });
  }
  return new OutboundError("connect", `No connection to ${hostname} could be made.`, { code, cause: error });
}
