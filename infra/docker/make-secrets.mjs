/**
 * Prints the secrets that docker-compose.yml asks for, new ones each time, and where mails go:
 *   node infra/docker/make-secrets.mjs > .env
 */
import { randomBytes } from "node:crypto";

const text = () => randomBytes(24).toString("hex");

/** Those who call the internal listeners of others, each with a token of its own. */
const callers = ["ACCOUNT", "CONFIG", "GATEWAY", "IMAGES", "WEBHOOK_DELIVERY", "WEBHOOK_INGEST"];
/** The roles that sign in to the database, beside its superuser. */
const roles = ["MIGRATE", "ACCOUNT", "CONFIG", "IMAGES", "WEBHOOK_DELIVERY", "WEBHOOK_INGEST", "EXPORTER"];
/** The names that sign in to Kafka. */
const principals = ["TOPICS", ...callers, "IMAGE_WORKER", "EXPORTER"];

console.log(`POSTGRES_PASSWORD=${text()}
${roles.map((role) => `${role}_DATABASE_PASSWORD=${text()}`).join("\n")}
${principals.map((principal) => `${principal}_KAFKA_PASSWORD=${text()}`).join("\n")}
${callers.map((caller) => `${caller}_INTERNAL_TOKEN=${text()}`).join("\n")}
REDIS_PASSWORD=${text()}
S3_SECRET_KEY=${text()}
GRAFANA_PASSWORD=${text()}
MAIL_URL=log:
SECRETS_KEYS=first:${randomBytes(32).toString("base64")}`);
