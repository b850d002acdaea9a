import { type Change, ChangeType, CriticalityLevel, diff, type TypeOfChangeType } from "@graphql-inspector/core";
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from "graphql";

/** Notice period of a removal. */
const noticeMonths = 12;

/**
 * Finds the changes of the public graph that may break a client. A member deprecated twelve months ago may be removed;
 * its reason starts with the date, as in `Since 2026-11-22. Use images.`
 */
export async function breakingChanges(accepted: GraphQLSchema, current: GraphQLSchema, today: Date): Promise<string[]> {
  const changes = await diff(accepted, current);
  const broken = changes.filter((change) => isBreaking(change) && !isAnnounced(accepted, change, today));
  return [...broken.map(({ message }) => message), ...undatedDeprecations(current)];
}

/**
 * Also counts a stricter output type, which Inspector calls harmless: during an outage of its subgraph such a null
 * removes everything around the field.
 */
function isBreaking({ type, criticality }: Change<TypeOfChangeType>): boolean {
  return criticality.level === CriticalityLevel.Breaking || type === ChangeType.FieldTypeChanged;
}

function isAnnounced(accepted: GraphQLSchema, { path = "" }: Change<TypeOfChangeType>, today: Date): boolean {
  const [typeName = "", memberName, argumentName] = path.split(".");
  const type = accepted.getType(typeName);
  if (!type) return false;
  if (memberName === undefined) return isLeftOver(accepted, type, today);
  const member = membersOf(type).find(({ name }) => name === memberName);
  const argument = member?.args?.find(({ name }) => name === argumentName);
  return isDue(member, today) || isDue(argument, today);
}

/** Returns true for a type that was removed with its last field. */
function isLeftOver(schema: GraphQLSchema, type: GraphQLNamedType, today: Date): boolean {
  const users = Object.values(schema.getTypeMap()).flatMap((other) => {
    if (isUnionType(other)) return other.getTypes().includes(type as never) ? [undefined] : [];
    return partsOf(other).filter((user) => user.type && getNamedType(user.type) === type);
  });
  return users.length > 0 && users.every((user) => isDue(user, today));
}

interface Member {
  readonly name: string;
  readonly deprecationReason?: string | null | undefined;
  /** Absent for values of an enum. */
  readonly type?: GraphQLType;
  readonly args?: readonly Member[];
}

function membersOf(type: GraphQLNamedType): readonly Member[] {
  if (isEnumType(type)) return type.getValues();
  return isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];
}

/** The members of a type with their arguments. */
const partsOf = (type: GraphQLNamedType): Member[] =>
  membersOf(type).flatMap((member) => [member, ...(member.args ?? [])]);

const dated = /^Since (\d{4}-\d{2}-\d{2})\. /;

function isDue(member: Member | undefined, today: Date): boolean {
  const [, day] = dated.exec(member?.deprecationReason ?? "") ?? [];
  if (day === undefined) return false;
  const due = new Date(day);
  due.setUTCMonth(due.getUTCMonth() + noticeMonths);
  return due <= today;
}

function undatedDeprecations(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith("__"))
    .flatMap((type) =>
      partsOf(type)
        .filter(({ deprecationReason }) => deprecationReason && !dated.test(deprecationReason))
        .map(
          ({ name }) => `The deprecation of '${type.name}.${name}' does not start with its date: "Since 2026-11-22. …"`,
        ),
    );
}
