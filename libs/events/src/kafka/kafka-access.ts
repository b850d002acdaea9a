import kafkajs, { type AclEntry, type AclFilter, type Admin } from "kafkajs";
import type { LogAccess } from "../event-log.ts";
import { linksOf } from "./kafka-errors.ts";
import { settled } from "./kafka-topics.ts";

const {
  AclOperationTypes: operation,
  AclPermissionTypes: permission,
  AclResourceTypes: resource,
  ResourcePatternTypes: pattern,
} = kafkajs;

/** Common prefix of our topics; every principal may read their settings. */
const ourTopics = "signalbox.";

/**
 * Adds the missing rights of each principal and removes those that the table does not give. Returns the remaining
 * differences.
 */
export async function ensureKafkaAccess(admin: Admin, access: readonly LogAccess[]): Promise<string[]> {
  for (const wanted of access) {
    const { missing, surplus } = await difference(admin, wanted);
    if (missing.length > 0) await admin.createAcls({ acl: missing });
    if (surplus.length > 0) await admin.deleteAcls({ filters: surplus });
  }
  return settled(() => verifyKafkaAccess(admin, access));
}

/** Lists the missing rights of each principal, and the surplus ones. */
export async function verifyKafkaAccess(admin: Admin, access: readonly LogAccess[]): Promise<string[]> {
  const problems: string[] = [];
  for (const wanted of access) {
    const { missing, surplus } = await difference(admin, wanted);
    problems.push(...missing.map((entry) => `${wanted.principal} may not ${describe(entry)}`));
    problems.push(...surplus.map((entry) => `${wanted.principal} may ${describe(entry)}, which it does not need`));
  }
  return problems;
}

async function difference(admin: Admin, wanted: LogAccess): Promise<{ missing: AclEntry[]; surplus: AclEntry[] }> {
  const has = await entriesOf(admin, wanted.principal);
  const needs = neededBy(wanted);
  const among = (entries: readonly AclEntry[]) => {
    const texts = new Set(entries.map(textOf));
    return (entry: AclEntry) => !texts.has(textOf(entry));
  };
  return { missing: needs.filter(among(has)), surplus: has.filter(among(needs)) };
}

async function entriesOf(admin: Admin, principal: string): Promise<AclEntry[]> {
  const filter: AclFilter = {
    principal,
    resourceType: resource.ANY,
    resourcePatternType: pattern.ANY,
    operation: operation.ANY,
    permissionType: permission.ANY,
  };
  const { resources } = await admin.describeAcls(filter).catch((error: unknown) => {
    if (![...linksOf(error)].some(({ type }) => type === "SECURITY_DISABLED")) throw error;
    throw new Error("The broker enforces no access rights. Set authorizer.class.name.", { cause: error });
  });
  return resources.flatMap(({ acls, resourceType, resourceName, resourcePatternType }) =>
    acls.map((acl) => ({ ...acl, resourceType, resourceName, resourcePatternType })),
  );
}

/**
 * Lists the needed ACL entries. Reading and writing imply describing; the others are for requests that the client makes
 * on its way.
 */
function neededBy({ principal, writes, reads, groupPrefix }: LogAccess): AclEntry[] {
  const allow = { principal, host: "*", permissionType: permission.ALLOW };
  const topic = { ...allow, resourceType: resource.TOPIC };
  const literal = { ...topic, resourcePatternType: pattern.LITERAL };
  const all = { ...topic, resourceName: ourTopics, resourcePatternType: pattern.PREFIXED };
  const groups = {
    ...allow,
    ...{ resourceType: resource.GROUP, resourceName: groupPrefix, resourcePatternType: pattern.PREFIXED },
  };
  return [
    ...writes.map((resourceName) => ({ ...literal, resourceName, operation: operation.WRITE })),
    ...reads.map((resourceName) => ({ ...literal, resourceName, operation: operation.READ })),
    ...[operation.DESCRIBE, operation.DESCRIBE_CONFIGS].map((one) => ({ ...all, operation: one })),
    // For the shortest session that the brokers allow.
    {
      ...allow,
      ...{ resourceType: resource.CLUSTER, resourceName: "kafka-cluster", resourcePatternType: pattern.LITERAL },
      operation: operation.DESCRIBE_CONFIGS,
    },
    // Groups that a reader uses once are deleted with it.
    ...[operation.READ, operation.DELETE].map((one) => ({ ...groups, operation: one })),
  ];
}

const textOf = (entry: AclEntry): string =>
  [
    entry.resourceType,
    entry.resourcePatternType,
    entry.resourceName,
    entry.operation,
    entry.permissionType,
    entry.host,
  ].join(" ");

function describe(entry: AclEntry): string {
  const word = (words: object, value: number) =>
    (Object.entries(words).find(([, number]) => number === value)?.[0] ?? String(value)).toLowerCase();
  const kind = word(resource, entry.resourceType);
  const rest = entry.resourcePatternType === pattern.PREFIXED ? "*" : "";
  return `${word(operation, entry.operation)} the ${kind} ${entry.resourceName}${rest}`;
}
