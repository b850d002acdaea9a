import { credentialFrom, requireScopes, requireStepUp, stateRefusal } from "@signalbox/auth";
import { AppError, isAppError } from "@signalbox/core";
import type { Exchange, Step } from "../app/exchange.ts";
import { queryTextOf, refuseCredentials } from "../request/query.ts";
import { countAddress, countCaller } from "./count-request.ts";

/** Finds out who is asking, counts the request against its allowance, and checks that the route is theirs to call. */
export const authenticate: Step = async (exchange) => {
  refuseCredentialsInQuery(exchange);
  const principal = await identify(exchange);
  if (principal === null) {
    countAddress(exchange, "anonymous");
    if (exchange.route.auth.optional) return null;
    throw new AppError("unauthorized", "This needs credentials: a Bearer token or an API key.");
  }
  exchange.principal = principal;
  countCaller(exchange, principal);
  const { access, scopes, stepUp } = exchange.route.auth;
  exchange.blocked = stateRefusal(principal, access);
  if (exchange.blocked && !mayBeRepeated(exchange)) throw exchange.blocked;
  requireScopes(principal, scopes);
  if (stepUp) requireStepUp(principal, exchange.edge.context.clock);
  return null;
};

/**
 * The answer to an earlier request may be there still, and the very request may be what moved the state: see
 * `beginIdempotency`, which goes no further. What shows a secret is for who may still act.
 */
const mayBeRepeated = ({ edge, headers, route }: Exchange): boolean =>
  route.spec.idempotent === true && edge.idempotency !== undefined && headers["idempotency-key"] !== undefined;

/** Routes for everyone are counted by address, whatever credentials come along. */
export const countAnonymous: Step = (exchange) => {
  countAddress(exchange, "anonymous");
  return null;
};

function refuseCredentialsInQuery(exchange: Exchange): void {
  const query = queryTextOf(exchange.request.url ?? "");
  if (query === "") return;
  try {
    refuseCredentials(query, exchange.route.spec.query);
  } catch (error) {
    // Nobody is known yet, so it counts as what comes without credentials.
    countAddress(exchange, "anonymous");
    throw error;
  }
}

async function identify(exchange: Exchange) {
  try {
    const credential = credentialFrom(exchange.headers);
    return credential && exchange.edge.authenticator
      ? await exchange.edge.authenticator.authenticate(credential)
      : null;
  } catch (error) {
    // Whoever keeps guessing is told to wait; good credentials from the same address keep working.
    if (isAppError(error) && error.code === "unauthorized") {
      countAddress(exchange, "failedSignIn");
    }
    throw error;
  }
}
