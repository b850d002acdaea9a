/** Signs a person in at the issuer of this deployment, as its application `console`: a code with PKCE (RFC 7636). */
const clientId = "console";
const place = "signalbox sign-in";
/** Changes that need a recent sign-in need one within 15 minutes. */
const recentSeconds = 900;

/**
 * Shows the button where this deployment signs people in itself. When the browser comes back from there, to `returnTo`,
 * `onToken` gets the access token, which stays in the memory of the page.
 */
export async function offerSignIn({ root, page = location.pathname, returnTo = page, button, status, onToken }) {
  const front = await (await fetch(root, { headers: { Accept: "application/json" } })).json();
  if (!front.links?.sign_in) return;
  const issuer = await (await fetch(new URL("oauth/.well-known/openid-configuration", root))).json();
  const home = new URL(issuer.issuer).origin;
  if (home !== location.origin) return status.replaceChildren("You can sign in at ", linkTo(home + page));
  button.hidden = false;
  const redirectUri = location.origin + returnTo;
  button.addEventListener("click", () => void begin(issuer, redirectUri));
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state")) return;
  const begun = JSON.parse(sessionStorage.getItem(place) ?? "null");
  sessionStorage.removeItem(place);
  history.replaceState(null, "", page + (begun?.hash ?? ""));
  try {
    const { access_token, expires_in } = await tokensFor(issuer, redirectUri, answer, begun);
    onToken(access_token);
    status.textContent = `You are signed in for ${Math.round(expires_in / 60)} minutes.`;
  } catch (error) {
    status.textContent = `You are not signed in: ${error.message}`;
  }
}

/** The issuer returns to its own origin alone; a machine has several names, such as `localhost` and `127.0.0.1`. */
const linkTo = (href) => Object.assign(document.createElement("a"), { href, textContent: href });

/** The state shows that the answer belongs to this sign-in, the verifier that the page that asked uses the code. */
async function begin(issuer, redirectUri) {
  const [state, verifier] = [random(), random()];
  sessionStorage.setItem(place, JSON.stringify({ state, verifier, hash: location.hash }));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const scopes = issuer.scopes_supported.filter((scope) => scope !== "offline_access");
  const asked = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: scopes.join(" "),
    max_age: String(recentSeconds),
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  });
  location.assign(`${issuer.authorization_endpoint}?${asked}`);
}

async function tokensFor(issuer, redirectUri, answer, begun) {
  if (answer.get("state") !== begun?.state || answer.get("iss") !== issuer.issuer)
    throw new Error("this answer belongs to no sign-in of this page.");
  if (answer.has("error")) throw new Error(answer.get("error_description") ?? answer.get("error"));
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: clientId,
    redirect_uri: redirectUri,
    code: answer.get("code"),
    code_verifier: begun.verifier,
  });
  const tokens = await (await fetch(issuer.token_endpoint, { method: "POST", body })).json();
  if (!tokens.access_token) throw new Error(tokens.error_description ?? "no token came.");
  return tokens;
}

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
