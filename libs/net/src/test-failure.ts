import assert from "node:assert/strict";
import { OutboundError } from "./outbound-error.ts";

/** For tests: the error with which an exchange has to end. */
export async function failureOf(exchange: Promise<unknown>): Promise<OutboundError> {
  const error = await exchange.then(
    () => assert.fail("the exchange succeeded"),
    (reason) => reason,
  );
  assert.ok(error instanceof OutboundError, String(error));
  return error;
}
