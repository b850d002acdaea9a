import { randomBytes } from "node:crypto";

/** Creates letters and digits that no program would take for a word and that every shape can contain. */
export const newSecret = (): string => `Q${randomBytes(10).toString("hex").toUpperCase()}`;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The textual forms of a credential. A visible argument is a leaked secret. */
export const secretShapes: Readonly<Record<string, (secret: string) => string>> = {
  "password of a URL": (secret) => `https://ada:${secret}@host.example/path`,
  "user of a URL": (secret) => `redis://${secret}@cache.example`,
  "password with an @": (secret) => `postgres://ada:p@ss${secret}@db.example/app`,
  "token in a query": (secret) => `https://host.example/?access_token=${secret}`,
  "Stripe secret key": (secret) => `sk_live_${secret}`,
  "Stripe restricted key": (secret) => `rk_live_${secret}`,
  "OpenAI key": (secret) => `sk-${secret}`,
  "GitHub token": (secret) => `ghp_${secret}`,
  "GitHub fine-grained token": (secret) => `github_pat_${secret}`,
  "GitLab token": (secret) => `glpat-${secret}`,
  "Slack token": (secret) => `xoxb-${secret}`,
  "Amazon key": (secret) => `AKIA${secret}`,
  "Google key": (secret) => `AIza${secret}`,
  "npm token": (secret) => `npm_${secret}`,
  "own API key": (secret) => `sbx_live_${secret}`,
  "webhook secret": (secret) => `whsec_${secret}`,
  "JSON Web Token": (secret) => `eyJhbGciOiJIUzI1NiJ9.${secret}.${secret}`,
  "PEM block": (secret) => `-----BEGIN PRIVATE KEY-----${secret}-----END PRIVATE KEY-----`,
  "bearer credential": (secret) => `Authorization: Bearer ${secret}`,
  "basic credential": (secret) => `Authorization: Basic ${base64(`:${secret}`)}`,
  "password in words": (secret) => `Server=db;Password=${secret};Timeout=5`,
  "member of JSON": (secret) => `{"client_secret": "${secret}"}`,
};

/** Sentences around a credential, in languages with other letters, other spaces and other directions. */
export const languages: Readonly<Record<string, (text: string) => string>> = {
  none: (text) => text,
  English: (text) => `Please use ${text} for now`,
  German: (text) => `Vorübergehend „${text}“ verwenden`,
  Russian: (text) => `Пока используйте ${text} здесь`,
  Arabic: (text) => `استخدم ${text} مؤقتا`,
  Japanese: (text) => `しばらくは「${text}」を使う`,
};

/** Lists the forms in which a secret may have leaked. */
const formsOf = (secret: string): string[] => [secret, secret.toLowerCase(), base64(`:${secret}`)];

/** Lists the places that contain one of the secrets. */
export function placesOf(secrets: readonly string[], outputs: Readonly<Record<string, string>>): string[] {
  const forms = secrets.flatMap(formsOf);
  return Object.entries(outputs).flatMap(([place, text]) => (forms.some((form) => text.includes(form)) ? [place] : []));
}
