import { ApiError, createClient } from "@signalbox/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { deploymentUrl } from "./place.ts";
import { sendOnce } from "./send-once.ts";
import { askPerson, credentialHeaders, readSession, renewOnce } from "./session.ts";

/** The API of this deployment, with the credential of the session. */
export const api = createClient({
  baseUrl: deploymentUrl.href.replace(/\/$/, ""),
  // A longer wait is shown, and counted down.
  retry: { waitMsMax: 2_000 },
  fetch: (request) => sendOnce(request, sendAsPerson),
});

type Transport = (request: Request) => Promise<Response>;

/**
 * Sends a request with the credential. After a 401 the token is renewed, by the issuer's session or by the person, and
 * after a 403 that asks for a recent sign-in the person gives one; then the same request goes out again, so nothing that was
 * typed is lost.
 */
export async function sendAsPerson(request: Request, transport: Transport = fetch): Promise<Response> {
  const send = async () => {
    const attempt = request.clone();
    for (const [name, value] of Object.entries(await credentialHeaders())) attempt.headers.set(name, value);
    return transport(attempt);
  };
  const answer = await send();
  if (answer.status === 401) return (await renewOnce()) || (await askPerson("ended")) ? send() : answer;
  if (answer.status === 403 && (await asksRecentSignIn(answer))) return (await askPerson("recent")) ? send() : answer;
  return answer;
}

async function asksRecentSignIn(answer: Response): Promise<boolean> {
  const body = await answer
    .clone()
    .json()
    .catch(() => null);
  const details: readonly { readonly code?: string }[] = body?.error?.details ?? [];
  return details.some(({ code }) => code === "step_up_required");
}

interface Answered<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Data with the version that a later change names in `If-Match`. */
export interface Versioned<Data> {
  readonly data: Data;
  readonly etag: string | null;
  /** The answer as it came, of a call with `asText`. */
  readonly text?: string;
}

/** Has an answer read as a text, whose values can then be shown as they came; `versioned` parses it. */
export const asText: object = { parseAs: "text" };

/**
 * Returns the data of an answer and its version.
 * @throws ApiError when the request was refused
 */
export async function versioned<Data>(answer: Promise<Answered<Data>>): Promise<Versioned<NonNullable<Data>>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ApiError(response, error);
  const etag = response.headers.get("ETag");
  return typeof data === "string"
    ? { data: JSON.parse(data), etag, text: data }
    : { data: data as NonNullable<Data>, etag };
}

/**
 * Returns the data of an answer.
 * @throws ApiError when the request was refused
 */
export const dataOf = async <Data>(answer: Promise<Answered<Data>>): Promise<NonNullable<Data>> =>
  (await versioned(answer)).data;

/** The header that names the version which a change is based on. */
export const ifMatch = (etag: string | null) => (etag === null ? {} : { "If-Match": etag });

export const credentialQuery = queryOptions({
  queryKey: ["credential"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => dataOf(api.GET("/api/account/credential")),
});

/** Reads who is asking: the account, its roles, and the scopes of the credential. */
export const useCredential = () => useQuery(credentialQuery);

/** Returns true in the portal, whose holder has a link and no account: what needs one is not shown. It never changes. */
export function useIsPortal(): boolean {
  const session = readSession();
  return session.kind === "signed-in" && session.credential.kind === "portal";
}

const readPortalSession = () => dataOf(api.GET("/api/v1/webhooks/portal-sessions/current"));

export type PortalSession = Awaited<ReturnType<typeof readPortalSession>>;

/** The session of a link into the portal, for its holder. */
export const portalQuery = queryOptions({
  queryKey: ["portal session"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: readPortalSession,
});

/** Returns false in a portal of chosen endpoints, whose holder does not decide which events they get. */
export function useChoosesEvents(): boolean {
  const isPortal = useIsPortal();
  const { data } = useQuery({ ...portalQuery, enabled: isPortal });
  return !isPortal || data?.endpoint_ids === null;
}

export type Scope = NonNullable<ReturnType<typeof useCredential>["data"]>["scopes"][number];

/** Returns true when the credential may do what the scope names. What it may not do is not shown. */
export function useMay(scope: Scope): boolean {
  return useCredential().data?.scopes.includes(scope) ?? false;
}
