import pg from "pg";

const { builtins } = pg.types;
const utcText = (text: string) => new Date(`${text.replace(" ", "T")}Z`);

/**
 * How column values become JavaScript. `int8` is `bigint`, always: a `number` would be wrong past 2^53 and a mix of both
 * would be wrong in silence; say `count(*)::int` where a number is wanted. A `timestamp` without zone is UTC, because
 * that is what Prisma writes; pg would read it in the zone of the process. A `date` stays text: it has no instant.
 */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, BigInt],
  [builtins.TIMESTAMP, (text) => (text.includes("infinity") ? text : utcText(text))],
  [builtins.DATE, (text) => text],
]);

export const valueParsing: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    (format !== "binary" && parsers.get(oid)) ||
    pg.types.getTypeParser(oid, format as "text")) as pg.CustomTypesConfig["getTypeParser"],
};

// A `Date` given for a `timestamp` column is written in UTC too. The setting is global to pg and we are its only home.
pg.defaults.parseInputDatesAsUTC = true;
