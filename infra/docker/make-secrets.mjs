/**
 * Writes into `.env` of a folder, or of this one, the secrets that docker-compose.yml needs, and the mail settings. Existing
 * ones stay unchanged, so that after an upgrade it adds those of the new version. A job of the image, which needs no Node outside:
 *   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/house" signalbox make-secrets /house
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const [folder = "."] = process.argv.slice(2);
const file = join(folder, ".env");
const text = () => randomBytes(24).toString("hex");

/** The callers of internal listeners, each with a token of its own. */
const callers = ["ACCOUNT", "CONFIG", "GATEWAY", "IMAGES", "WEBHOOK_DELIVERY", "WEBHOOK_INGEST"];
/** The database roles that sign in, besides the superuser. */
const roles = ["MIGRATE", "ACCOUNT", "CONFIG", "IMAGES", "WEBHOOK_DELIVERY", "WEBHOOK_INGEST", "EXPORTER", "BACKUP"];
/** The names that sign in to Kafka. */
const principals = ["TOPICS", ...callers, "IMAGE_WORKER", "EXPORTER"];

const wanted = [
  ["POSTGRES_PASSWORD", text()],
  ...roles.map((role) => [`${role}_DATABASE_PASSWORD`, text()]),
  ...principals.map((principal) => [`${principal}_KAFKA_PASSWORD`, text()]),
  ...callers.map((caller) => [`${caller}_INTERNAL_TOKEN`, text()]),
  ["REDIS_PASSWORD", text()],
  ["S3_SECRET_KEY", text()],
  ["GRAFANA_PASSWORD", text()],
  ["MAIL_URL", "log:"],
  ["SECRETS_KEYS", `first:${randomBytes(32).toString("base64")}`],
];

const kept = existsSync(file) ? readFileSync(file, "utf8") : "";
const isThere = (name) => new RegExp(`^\\s*(export\\s+)?${name}\\s*[=:]`, "m").test(kept);
const added = wanted.filter(([name]) => !isThere(name));
if (added.length > 0) {
  const lines = added.map(([name, value]) => `${name}=${value}\n`).join("");
  // Atomic: a truncated file would lose the passwords of the volumes.
  const whole = `${file}.new`;
  writeFileSync(whole, `${kept}${kept === "" || kept.endsWith("\n") ? "" : "\n"}${lines}`, { mode: 0o600 });
  renameSync(whole, file);
}
const names = added.map(([name]) => name).join(", ");
// Not on standard output: redirected to `.env` it would overwrite the secrets.
console.error(names === "" ? `${file} is complete` : `added to ${file}: ${names}`);
