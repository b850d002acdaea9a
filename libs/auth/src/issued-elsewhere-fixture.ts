import { type Role, type Scope, scopesOfRole } from "@signalbox/contracts";

/** The expected reading of a token. */
interface Expected {
  readonly kind: "token" | "client";
  readonly roles: readonly Role[];
  readonly scopes: readonly Scope[];
  readonly isNamed?: false;
  readonly signedIn?: true;
}

interface IssuedToken extends Expected {
  readonly title: string;
  readonly provider: string;
  readonly algorithm?: "ES384";
  readonly header: { readonly typ?: string | undefined; readonly x5t?: string };
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The second in which all of these tokens were issued. */
export const issuedAt = 1_790_000_000;

const owner = { kind: "token", roles: ["owner"], scopes: scopesOfRole("owner") } as const;

/** Access tokens from the documentation of the providers, with their times moved to the same second. */
export const issuedTokens: readonly IssuedToken[] = [
  {
    title: "Entra ID: a person, by scopes",
    provider: "Entra ID",
    header: { typ: "JWT", x5t: "kgLeuRVS7kZWgMdTeYtyEsrrcQE" },
    claims: {
      ...{
        aud: "11112222-bbbb-3333-cccc-4444dddd5555",
        iat: issuedAt - 300,
        nbf: issuedAt - 300,
        exp: issuedAt + 4200,
        jti: undefined,
      },
      ...{ aio: "AXQAi/8IAAAAtAz", azp: "00001111-aaaa-2222-bbbb-3333cccc4444", azpacr: "0", name: "Ada Lovelace" },
      ...{ oid: "aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb", preferred_username: "ada@contoso.com", rh: "I" },
      ...{ scp: "access_as_user images:read", sub: "HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ" },
      ...{ tid: "aaaabbbb-0000-cccc-1111-dddd2222eeee", uti: "fqiBqXLPj0eQa82S-IYFAA", ver: "2.0" },
    },
    kind: "token",
    roles: ["owner"],
    scopes: ["images:read"],
    isNamed: false,
  },
  {
    title: "Entra ID: a person, by an app role",
    provider: "Entra ID",
    header: { typ: "JWT" },
    claims: {
      ...{
        aud: "11112222-bbbb-3333-cccc-4444dddd5555",
        iat: issuedAt - 300,
        nbf: issuedAt - 300,
        exp: issuedAt + 4200,
        jti: undefined,
      },
      ...{ azp: "00001111-aaaa-2222-bbbb-3333cccc4444", azpacr: "1", scp: "access_as_user", idtyp: "user" },
      ...{ roles: ["Signalbox.Operator", "admin"], sub: "HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ", ver: "2.0" },
    },
    kind: "token",
    roles: ["operator"],
    scopes: scopesOfRole("operator"),
    isNamed: false,
  },
  {
    title: "Entra ID: an application",
    provider: "Entra ID",
    header: { typ: "JWT" },
    claims: {
      ...{
        aud: "11112222-bbbb-3333-cccc-4444dddd5555",
        iat: issuedAt - 300,
        nbf: issuedAt - 300,
        exp: issuedAt + 3600,
        jti: undefined,
      },
      ...{ aio: "k2RgYLjN0", azp: "00001111-aaaa-2222-bbbb-3333cccc4444", azpacr: "1", idtyp: "app" },
      ...{ oid: "cccccccc-0000-1111-2222-dddddddddddd", sub: "cccccccc-0000-1111-2222-dddddddddddd" },
      ...{ roles: ["images:read", "images:write", "config:admin"], uti: "c2xN8j4xIUqGzsZzVTdOAA", ver: "2.0" },
    },
    kind: "client",
    roles: [],
    scopes: ["images:read", "images:write"],
    isNamed: false,
  },
  {
    title: "Auth0: a person, by scope and permissions",
    provider: "Auth0",
    header: { typ: "JWT" },
    claims: {
      ...{ sub: "auth0|123456", aud: ["https://signalbox.example.com", "https://example.eu.auth0.com/userinfo"] },
      ...{ azp: "my_client_id", iat: issuedAt, exp: issuedAt + 86_400, jti: undefined, scope: "openid profile email" },
      permissions: ["images:read", "webhooks:read"],
    },
    kind: "token",
    roles: ["owner"],
    scopes: ["images:read", "webhooks:read"],
    isNamed: false,
  },
  {
    title: "Auth0: a person, in the RFC 9068 profile, by the role that an Action adds",
    provider: "Auth0",
    header: { typ: "at+jwt" },
    claims: {
      ...{ sub: "auth0|123456", aud: ["https://signalbox.example.com", "https://example.eu.auth0.com/userinfo"] },
      ...{
        client_id: "my_client_id",
        iat: issuedAt,
        exp: issuedAt + 7200,
        jti: "73WakrfVbNJBaAmhQtEeDv",
        scope: "openid profile",
      },
      "https://signalbox.example.com/roles": ["Signalbox Admin"],
    },
    kind: "token",
    roles: ["admin"],
    scopes: scopesOfRole("admin"),
  },
  {
    title: "Auth0: an application",
    provider: "Auth0",
    header: { typ: "JWT" },
    claims: {
      ...{ sub: "my_client_id@clients", aud: "https://signalbox.example.com", azp: "my_client_id", jti: undefined },
      ...{ iat: issuedAt, exp: issuedAt + 86_400, scope: "events:publish", gty: "client-credentials" },
    },
    kind: "client",
    roles: [],
    scopes: ["events:publish"],
    isNamed: false,
  },
  {
    title: "Okta: a person, by a list of scopes",
    provider: "Okta",
    header: { typ: undefined },
    claims: {
      ...{
        ver: 1,
        jti: "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
        aud: "api://default",
        iat: issuedAt,
        exp: issuedAt + 3600,
      },
      ...{ cid: "0oabv6kx4qq6h1U5l0h7", uid: "00ujmkLgagxeRrAg20g3", scp: ["openid", "images:read", "offline_access"] },
      ...{ auth_time: issuedAt - 60, sub: "ada@example.com", groups: ["Everyone"] },
    },
    kind: "token",
    roles: ["owner"],
    scopes: ["images:read"],
    signedIn: true,
  },
  {
    title: "Okta: a person, by a group",
    provider: "Okta",
    header: { typ: undefined },
    claims: {
      ...{
        ver: 1,
        jti: "AT.1mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
        aud: "api://default",
        iat: issuedAt,
        exp: issuedAt + 3600,
      },
      ...{ cid: "0oabv6kx4qq6h1U5l0h7", uid: "00ujmkLgagxeRrAg20g3", scp: ["openid"], sub: "ada@example.com" },
      groups: ["Everyone", "signalbox-admins"],
    },
    kind: "token",
    roles: ["admin"],
    scopes: scopesOfRole("admin"),
  },
  {
    title: "Okta: an application",
    provider: "Okta",
    header: { typ: undefined },
    claims: {
      ...{
        ver: 1,
        jti: "AT.2mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE",
        aud: "api://default",
        iat: issuedAt,
        exp: issuedAt + 3600,
      },
      ...{ cid: "0oabv6kx4qq6h1U5l0h7", scp: ["images:write"], sub: "0oabv6kx4qq6h1U5l0h7" },
    },
    kind: "client",
    roles: [],
    scopes: ["images:write"],
  },
  {
    title: "Keycloak: a person, whose role in the realm is not one here",
    provider: "Keycloak",
    header: { typ: "JWT" },
    claims: {
      ...{
        exp: issuedAt + 300,
        iat: issuedAt,
        auth_time: issuedAt - 60,
        jti: "onrtac:5a0f4f4b-2d9b-4a5c-9c35-7f4e5b0e5a9d",
      },
      ...{ aud: ["signalbox", "account"], sub: "f2c1a3de-27a2-4f3c-a3ff-4972b4f2bc5b", typ: "Bearer", azp: "console" },
      ...{ sid: "a7b0c1d2-6a53-4b8e-8d4a-2b8f8a0c9e11", acr: "1", "allowed-origins": ["https://console.example.com"] },
      ...{ realm_access: { roles: ["default-roles-corp", "offline_access", "admin"] } },
      ...{ resource_access: { account: { roles: ["manage-account", "view-profile"] } } },
      ...{ scope: "openid profile email", email_verified: true, preferred_username: "ada", email: "ada@example.com" },
    },
    ...owner,
    signedIn: true,
  },
  {
    title: "Keycloak: a person, by a role of the client",
    provider: "Keycloak",
    header: { typ: "JWT" },
    claims: {
      ...{
        exp: issuedAt + 300,
        iat: issuedAt,
        jti: "onrtac:6a0f4f4b-2d9b-4a5c-9c35-7f4e5b0e5a9d",
        aud: "signalbox",
        typ: "Bearer",
      },
      ...{ sub: "f2c1a3de-27a2-4f3c-a3ff-4972b4f2bc5b", azp: "console", scope: "openid email" },
      ...{ resource_access: { signalbox: { roles: ["ops"] }, account: { roles: ["manage-account"] } } },
    },
    kind: "token",
    roles: ["operator"],
    scopes: scopesOfRole("operator"),
  },
  {
    title: "Keycloak: a service account",
    provider: "Keycloak",
    header: { typ: "JWT" },
    claims: {
      ...{
        exp: issuedAt + 300,
        iat: issuedAt,
        jti: "trrtcc:19b582b8-28c5-4a7e-ae0b-0500e11c6bd4",
        aud: ["signalbox", "account"],
      },
      ...{ sub: "d952cf23-bf92-4c8f-a3ff-4972b4f2bc5b", typ: "Bearer", azp: "robot", acr: "1" },
      ...{ scope: "images:read email profile", clientHost: "10.0.0.7", clientAddress: "10.0.0.7", client_id: "robot" },
      ...{ email_verified: false, preferred_username: "service-account-robot" },
    },
    kind: "client",
    roles: [],
    scopes: ["images:read"],
  },
  {
    title: "Zitadel: a person, by a role that is a member of an object",
    provider: "Zitadel",
    header: { typ: "JWT" },
    claims: {
      ...{
        sub: "237391341234567890",
        aud: ["344374183645413381", "344374183645413380"],
        exp: issuedAt + 43_200,
        iat: issuedAt,
      },
      ...{ nbf: issuedAt, jti: "V2_345377791925026818-at_345377791925026819", client_id: "344374183645413381" },
      ...{ "urn:zitadel:iam:org:project:roles": { operator: { "344373908297744388": "corp.example.zitadel.cloud" } } },
      "urn:zitadel:iam:org:project:344374183645413380:roles": {
        operator: { "344373908297744388": "corp.example.zitadel.cloud" },
        streaming: { "344373908297744388": "corp.example.zitadel.cloud" },
      },
    },
    kind: "token",
    roles: ["operator"],
    scopes: scopesOfRole("operator"),
  },
  {
    title: "Zitadel: a service user, who is a person here",
    provider: "Zitadel",
    header: { typ: "JWT" },
    claims: {
      ...{
        sub: "345377791925026818",
        aud: ["344374183645413380"],
        exp: issuedAt + 43_200,
        iat: issuedAt,
        nbf: issuedAt,
      },
      ...{ jti: "V2_345377791925026818-at_345377791925026820", client_id: "service-robot" },
    },
    ...owner,
  },
  {
    title: "Logto: a person, by scope",
    provider: "Logto",
    algorithm: "ES384",
    header: { typ: "at+jwt" },
    claims: {
      ...{
        jti: "ZFDVQ8gWOuMBTiEnDIGPn",
        sub: "foo_user_1",
        iat: issuedAt,
        exp: issuedAt + 3600,
        scope: "images:read images:write",
      },
      ...{ client_id: "z2czo07onwhlzlh4dkqzy", aud: "https://signalbox.example.com" },
    },
    kind: "token",
    roles: ["owner"],
    scopes: ["images:read", "images:write"],
  },
  {
    title: "Logto: a person, by the role that a custom claim adds",
    provider: "Logto",
    algorithm: "ES384",
    header: { typ: "at+jwt" },
    claims: {
      ...{ jti: "AFDVQ8gWOuMBTiEnDIGPn", sub: "foo_user_1", iat: issuedAt, exp: issuedAt + 3600, scope: "" },
      ...{ client_id: "z2czo07onwhlzlh4dkqzy", aud: "https://signalbox.example.com", roles: ["signalbox-admin"] },
    },
    kind: "token",
    roles: ["admin"],
    scopes: scopesOfRole("admin"),
  },
  {
    title: "Logto: an application",
    provider: "Logto",
    algorithm: "ES384",
    header: { typ: "at+jwt" },
    claims: {
      ...{
        jti: "BFDVQ8gWOuMBTiEnDIGPn",
        sub: "m2m0001",
        iat: issuedAt,
        exp: issuedAt + 3600,
        scope: "events:publish account:admin",
      },
      ...{ client_id: "m2m0001", aud: "https://signalbox.example.com" },
    },
    kind: "client",
    roles: [],
    scopes: ["events:publish"],
  },
];
