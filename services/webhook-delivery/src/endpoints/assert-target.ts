import { AppError } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";

/**
 * Refuses a URL that could never be delivered to: not https, credentials in it, a literal address that is not public.
 * What a name resolves to is judged at the socket, at every attempt. Throws AppError `validation_error` on `url`.
 */
export function createAssertTarget(outbound: Pick<OutboundClient, "check">) {
  return function assertTarget(url: string): void {
    const problem = outbound.check(url, { requireHttps: true });
    if (problem === null) return;
    throw new AppError("validation_error", "The endpoint cannot be delivered to.", {
      details: [{ field: "url", code: problem.code, message: problem.message }],
    });
  };
}
