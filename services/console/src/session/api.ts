import { ApiError, type CurrentCredential, createClient, etagOf } from "@signalbox/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { deploymentUrl } from "./place.ts";
import { sendOnce } from "./send-once.ts";
import { askPerson, credentialHeaders, renewOnce, sessionState } from "./session.ts";

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

/** Has an answer read as a text, whose values can then be shown as they came; `withText` parses it. */
export const asText: object = { parseAs: "text" };

/** Reads data with its version. */
export async function versioned<Data extends object>(reading: Promise<Data>): Promise<Versioned<Data>> {
  const data = await reading;
  return { data, etag: etagOf(data) ?? null };
}

/**
 * Returns the data of an answer that came as a text, with its version.
 * @throws ApiError when the request was refused
 */
export async function withText<Data>(answer: Promise<Answered<Data>>): Promise<Versioned<NonNullable<Data>>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ApiError(response, error);
  const text = data as string;
  return { data: JSON.parse(text), etag: response.headers.get("ETag"), text };
}

/** The option of a change that names the version which it is based on. */
export const ifMatch = (etag: string | null) => (etag === null ? {} : { ifMatch: etag });

export const credentialQuery = queryOptions({
  queryKey: ["credential"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => api.account.currentCredential(),
});

/** Reads who is asking: the account, its roles, and the scopes of the credential. */
export const useCredential = () => useQuery(credentialQuery);

/** Returns true in the portal, whose holder has a link and no account: what needs one is not shown. It never changes. */
export function useIsPortal(): boolean {
  const session = sessionState.value;
  return session.kind === "signed-in" && session.credential.kind === "portal";
}

/** The session of a link into the portal, for its holder. */
export const portalQuery = queryOptions({
  queryKey: ["portal session"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: () => api.portalSessions.current(),
});

/** Returns false in a portal of chosen endpoints, whose holder does not decide which events they get. */
export function useChoosesEvents(): boolean {
  const isPortal = useIsPortal();
  const { data } = useQuery({ ...portalQuery, enabled: isPortal });
  return !isPortal || data?.endpoint_ids === null;
}

export type Scope = CurrentCredential["scopes"][number];

/** Returns true when the credential may do what the scope names. What it may not do is not shown. */
export function useMay(scope: Scope): boolean {
  return useCredential().data?.scopes.includes(scope) ?? false;
}
