/** Redirect URIs that differ from the registered one. */
export const redirectMutations: Readonly<Record<string, (registered: string) => string>> = {
  "of a stranger": () => "https://evil.example/",
  "of a stranger with the path": (uri) => `https://evil.example${new URL(uri).pathname}`,
  "with a slash more": (uri) => `${uri}/`,
  "with a path more": (uri) => `${uri}/more`,
  "with a part of the path": (uri) => uri.slice(0, -1),
  "with a query": (uri) => `${uri}?next=https://evil.example`,
  "with a fragment": (uri) => `${uri}#evil`,
  "with dots in the path": (uri) => `${uri}/../back`,
  "with coded dots in the path": (uri) => `${uri}/%2e%2e/evil`,
  "with a coded letter": (uri) => uri.replace("back", "%62ack"),
  "with a capital letter in the path": (uri) => uri.replace("back", "Back"),
  "with a capital letter in the host": (uri) =>
    uri.replace(/\/\/(\w)/, (_, first: string) => `//${first.toUpperCase()}`).replace("//127", "//LOCALHOST"),
  "with a user": (uri) => uri.replace("//", "//evil.example@"),
  "with a user that looks like it": (uri) => `${uri.replace("/back", "")}@evil.example/back`,
  "with its host as the beginning of another": (uri) => uri.replace("/back", ".evil.example/back"),
  "with its host as the end of another": (uri) => uri.replace("://", "://evil"),
  "with a dot behind the host": (uri) => uri.replace("/back", "./back"),
  "with a backslash": (uri) => uri.replace("/back", "\\@evil.example/back"),
  "with another scheme": (uri) => uri.replace(/^https?/, "ftp"),
  "with a scheme of its own": () => "com.evil.app:/back",
  "with script": () => "javascript:alert(1)//https://console.example/back",
  "with data": () => "data:text/html,x",
  "of the issuer itself": () => "/oauth/authorize",
  "without a scheme": (uri) => uri.replace(/^https?:/, ""),
  "with a space before it": (uri) => ` ${uri}`,
  "with a line break behind it": (uri) => `${uri}\r\nlocation: https://evil.example`,
  "with U+0000": (uri) => `${uri}\0.evil.example`,
  "that is two": (uri) => `${uri} https://evil.example/`,
  "of another application": (uri) =>
    uri.includes("console") ? "https://other.example/back" : "https://console.example/back",
  "of a name for this machine": () => "http://localhost/back",
  "of every address of this machine": () => "http://0.0.0.0/back",
};

/** Authorization parameters that must not lead to a code, with the change. */
export const authorizationMutations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "no challenge": { code_challenge: "", code_challenge_method: "" },
  "a plain challenge": { code_challenge_method: "plain" },
  "a challenge of no method": { code_challenge_method: "" },
  "a challenge of an unknown method": { code_challenge_method: "S512" },
  "a short challenge": { code_challenge: "abc" },
  "a challenge with other characters": { code_challenge: `${"a".repeat(42)}=` },
  "the response type token": { response_type: "token" },
  "the response type id_token": { response_type: "id_token" },
  "the response type id_token token": { response_type: "id_token token" },
  "the response type code token": { response_type: "code token" },
  "the response type code id_token": { response_type: "code id_token" },
  "the response type none": { response_type: "none" },
  "no response type": { response_type: "" },
  "the response mode fragment": { response_mode: "fragment.jwt" },
  "the response mode web_message": { response_mode: "web_message" },
  "a request object that is not signed": {
    request: `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"redirect_uri":"https://evil.example"}').toString("base64url")}.`,
  },
  "a request object elsewhere": { request_uri: "http://127.0.0.1:9/request.jwt" },
  "a registration": { registration: '{"redirect_uris":["https://evil.example/"]}' },
  "an unknown application": { client_id: "nobody" },
  "an application in markup": { client_id: "<script>alert(1)</script>" },
  "no application": { client_id: "" },
  "an audience of a stranger": { resource: "https://evil.example/" },
  "a login from the future": { max_age: "-1" },
  "a hint that is no token": { id_token_hint: "a.b.c" },
  "an unknown prompt": { prompt: "evil" },
};

/** Unsupported grants. */
export const unknownGrants: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "a password": { grant_type: "password", username: "a@example.org", password: "x" },
  "an implicit grant": { grant_type: "implicit" },
  "an exchange of tokens": {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: "x",
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
  },
  "an assertion": { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "a.b.c" },
  "a SAML assertion": { grant_type: "urn:ietf:params:oauth:grant-type:saml2-bearer", assertion: "x" },
  "a device": { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "x" },
  "a back channel": { grant_type: "urn:openid:params:grant-type:ciba", auth_req_id: "x" },
  "no grant": {},
  "an empty grant": { grant_type: "" },
  "a grant of another case": { grant_type: "Client_Credentials" },
  "a grant named __proto__": { grant_type: "__proto__" },
};

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});
const none = { alg: "none" };
const jwt = (header: object, claims: object) =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");

export interface ClientSecret {
  readonly id: string;
  readonly secret: string;
}
interface Shown {
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Invalid client authentications. */
export const clientForgeries: Readonly<Record<string, (client: ClientSecret, other: ClientSecret) => Shown>> = {
  "its id alone": ({ id }) => ({ form: { client_id: id } }),
  "an empty secret": ({ id }) => ({ form: { client_id: id, client_secret: "" } }),
  "an empty secret as Basic": ({ id }) => ({ headers: basic(id, "") }),
  "a wrong secret": ({ id }) => ({ form: { client_id: id, client_secret: "wrong" } }),
  "a wrong secret as Basic": ({ id }) => ({ headers: basic(id, "wrong") }),
  "another client's secret": ({ id }, other) => ({ form: { client_id: id, client_secret: other.secret } }),
  "another client's secret as Basic": ({ id }, other) => ({ headers: basic(id, other.secret) }),
  "the secret without its last character": ({ id, secret }) => ({
    form: { client_id: id, client_secret: secret.slice(0, -1) },
  }),
  "the secret with a character more": ({ id, secret }) => ({ form: { client_id: id, client_secret: `${secret}A` } }),
  "the secret with a space": ({ id, secret }) => ({ form: { client_id: id, client_secret: ` ${secret}` } }),
  "the secret in capitals": ({ id, secret }) => ({ form: { client_id: id, client_secret: secret.toUpperCase() } }),
  "the secret as a list": ({ id, secret }) => ({ form: { client_id: id, "client_secret[]": secret } }),
  "the id as its secret": ({ id }) => ({ form: { client_id: id, client_secret: id } }),
  "two ways at once": ({ id, secret }) => ({
    form: { client_id: id, client_secret: secret },
    headers: basic(id, secret),
  }),
  "two clients at once": ({ id }, other) => ({ form: { client_id: id }, headers: basic(other.id, other.secret) }),
  "an API key's place": ({ id, secret }) => ({ form: { client_id: id }, headers: { "x-api-key": secret } }),
  "a Bearer token's place": ({ id, secret }) => ({
    form: { client_id: id },
    headers: { authorization: `Bearer ${secret}` },
  }),
  "an assertion that is not signed": ({ id }) => ({
    form: {
      client_id: id,
      client_assertion: `${jwt(none, { iss: id, sub: id })}.`,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    },
  }),
  "a certificate in a header": ({ id }) => ({
    form: { client_id: id },
    headers: { "x-client-cert": "MII", "x-ssl-client-verify": "SUCCESS" },
  }),
  "an id that is none": () => ({ form: { client_id: "nobody", client_secret: "x" } }),
  "an id in the form of a statement": ({ secret }) => ({ form: { client_id: "' or 1=1 --", client_secret: secret } }),
  "the id of an application": ({ secret }) => ({ form: { client_id: "desk", client_secret: secret } }),
};

/** Codes and refresh tokens that differ from the issued one. */
export const tokenMutations: Readonly<Record<string, (token: string) => string>> = {
  "that is empty": () => "",
  "that was made up": () => "A".repeat(43),
  "without its last character": (token) => token.slice(0, -1),
  "with a character more": (token) => `${token}A`,
  "with one character changed": (token) => (token.startsWith("A") ? "B" : "A") + token.slice(1),
  "in another case": (token) => (token === token.toLowerCase() ? token.toUpperCase() : token.toLowerCase()),
  "with a space": (token) => ` ${token}`,
  "with U+0000": (token) => `${token}\0`,
  "with a wildcard": () => "%",
  "of a kilobyte": (token) => token + "A".repeat(1_000),
};
