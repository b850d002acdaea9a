/**
 * Prints the secrets that docker-compose.yml asks for, new ones each time, and where mails go:
 *   node infra/docker/make-secrets.mjs > .env
 */
import { randomBytes } from "node:crypto";

const text = () => randomBytes(24).toString("hex");

console.log(`POSTGRES_PASSWORD=${text()}
S3_SECRET_KEY=${text()}
INTERNAL_TOKEN=${text()}
MAIL_URL=log:
SECRETS_KEYS=first:${randomBytes(32).toString("base64")}`);
